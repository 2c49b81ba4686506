-- Records an attempt that has ended.

INSERT INTO submission_attempts (
    lease_name, intent_id, attempt_number, lease_epoch, holder_id, started_at,
    finished_at, outcome_status, outcome_reason, error, http_status, answer,
    span_id
)
VALUES (
    :lease_name, :intent_id, :attempt_number, :lease_epoch, :holder_id,
    :started_at, :finished_at, :outcome_status, :outcome_reason, :error,
    :http_status, :answer, :span_id
);
