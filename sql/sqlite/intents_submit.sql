-- Inserts one intent, whether from a batch of submissions, a schedule, the inbox or a
-- replay.  It changes nothing if the intent exists.

INSERT INTO submission_intents (
    lease_name, intent_id, payload_hash, payload, submission_target,
    gateway_type, gateway_url, policy, max_acceptance_seconds, max_attempts,
    terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
    retry_jitter_pct, retry_schedule, notify, contract_version, status,
    attempt_count, created_at, last_modified_at, next_attempt_at, replay_of,
    event_of, traceparent, tracestate, not_before
)
VALUES (
    :lease_name, :intent_id, :payload_hash, :payload, :submission_target,
    :gateway_type, :gateway_url, :policy, :max_acceptance_seconds,
    :max_attempts, :terminal_outcomes, :retry_delay_ms, :retry_max_ms,
    :retry_backoff_pct, :retry_jitter_pct, :retry_schedule, :notify,
    :contract_version, 'pending', 0, :now, :now, :next_attempt_at, :replay_of,
    :event_of, :traceparent, :tracestate, :not_before
)
ON CONFLICT (lease_name, intent_id) DO NOTHING;
