-- One intent of a batch, in the batch's transaction, whatever has become of it.  Its
-- deadline counts from the later one of created_at and not_before.

SELECT rowid, status, next_attempt_at, inflight_epoch, attempt_count,
       max(created_at, coalesce(not_before, created_at)), payload,
       submission_target, gateway_type, gateway_url, policy,
       max_acceptance_seconds, max_attempts, terminal_outcomes, retry_delay_ms,
       retry_max_ms, retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
       traceparent, tracestate
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id;
