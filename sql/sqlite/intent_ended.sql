-- Creates the events of an intent that has ended, in the transaction that ends it.  A
-- trigger would slow down every attempt, even without webhooks.

INSERT INTO submission_intents (
    lease_name, intent_id, submission_target, payload_hash, gateway_type,
    gateway_url, policy, max_attempts, terminal_outcomes, retry_delay_ms,
    retry_max_ms, retry_backoff_pct, retry_jitter_pct, status, attempt_count,
    created_at, last_modified_at, next_attempt_at, event_of,
    traceparent, tracestate, payload
)
SELECT *
FROM submission_intents_told
WHERE lease_name = :lease_name AND event_of = :intent_id;
