-- One row of a batch, in the batch's transaction.  Nothing is changed where the
-- intent exists already.

INSERT INTO submission_intents (
    lease_name, intent_id, payload_hash, payload, submission_target,
    gateway_type, gateway_url, policy, max_acceptance_seconds, max_attempts,
    terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
    retry_jitter_pct, retry_schedule, notify, status, attempt_count, created_at,
    last_modified_at, next_attempt_at, not_before, traceparent, tracestate
)
VALUES (
    :lease_name, :intent_id, :payload_hash, :payload, :submission_target,
    :gateway_type, :gateway_url, :policy, :max_acceptance_seconds,
    :max_attempts, :terminal_outcomes, :retry_delay_ms, :retry_max_ms,
    :retry_backoff_pct, :retry_jitter_pct, :retry_schedule, :notify, 'pending',
    0, :now, :now, :next_attempt_at, :not_before, :traceparent, :tracestate
)
ON CONFLICT (lease_name, intent_id) DO NOTHING;
