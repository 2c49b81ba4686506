-- One intent of a batch, in the batch's transaction, whatever has become of it.

SELECT rowid, status, next_attempt_at, inflight_epoch, attempt_count,
       created_at, payload, submission_target, gateway_type, gateway_url,
       policy, max_acceptance_seconds, max_attempts, terminal_outcomes,
       retry_delay_ms, retry_max_ms, retry_backoff_pct, retry_jitter_pct
FROM submission_intents
WHERE lease_name = :lease_name AND intent_id = :intent_id;
