-- Reads one intent of a batch, in the batch's transaction, whatever its state is by
-- now.  The deadline counts from created_at or not_before, whichever is later, and is
-- checked even if the rest of the contract is not understood.

SELECT rowid, status, next_attempt_at, inflight_epoch, attempt_count,
       max(created_at, coalesce(not_before, created_at)), payload,
       policy = 'deadline' AND max_acceptance_seconds > 0
       AND (:now - max(created_at, coalesce(not_before, created_at))) / 1000000
           >= max_acceptance_seconds,
       submission_target, gateway_type, gateway_url, policy,
       max_acceptance_seconds, max_attempts, terminal_outcomes, retry_delay_ms,
       retry_max_ms, retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
       contract_version, traceparent, tracestate
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id;
