-- Reads the intents that are in flight under epochs before :lease_epoch, strictly after
-- (:after_at, :after_id), in the order in which their attempts began.

SELECT :now AS now, intent_id, attempt_count + 1 AS number, inflight_epoch,
       inflight_holder, inflight_at,
       max(created_at, coalesce(not_before, created_at)) AS created_at,
       submission_target, gateway_type, gateway_url, policy,
       max_acceptance_seconds, max_attempts, terminal_outcomes, retry_delay_ms,
       retry_max_ms, retry_backoff_pct, retry_jitter_pct, retry_schedule, notify,
       contract_version
FROM submission_intents
WHERE lease_name = :lease_name AND inflight_epoch IS NOT NULL
      AND inflight_epoch < :lease_epoch
      AND (inflight_at, intent_id) > (:after_at, :after_id)
ORDER BY inflight_at, intent_id
LIMIT :limit;
