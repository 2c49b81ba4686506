-- Prepares a copy that replaces a lost database.  Run it while no nginx uses the copy:
-- see docs/howto/backup-and-restore.md.
--
-- The copy lacks everything that happened after it was made.  An intent that is pending
-- here may have been sent since.  The policy one_shot promises to send at most once, so
-- such an intent ends here, with an unknown outcome.  All others are sent again with
-- the same Idempotency-Key.  The next leader settles the attempts that are in flight
-- here.
--
-- Webhooks are told about the intents that end here, as about any other end.
--
-- The copy also lacks later epochs, and a gateway that refuses older epochs would
-- refuse all attempts.  So the epoch grows by a million, which is more than were ever
-- used.

BEGIN IMMEDIATE;

CREATE TEMP TABLE ended AS
SELECT lease_name, intent_id,
       CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000
       AS now
FROM submission_intents
WHERE status = 'pending' AND policy = 'one_shot' AND inflight_epoch IS NULL;

UPDATE submission_intents AS i
SET status = 'exhausted',
    exhausted_reason = 'outcome_unknown',
    completed_at = e.now,
    last_modified_at = e.now,
    next_attempt_at = NULL
FROM temp.ended AS e
WHERE i.lease_name = e.lease_name AND i.intent_id = e.intent_id;

INSERT INTO submission_intents (
    lease_name, intent_id, submission_target, payload_hash, gateway_type,
    gateway_url, policy, max_attempts, terminal_outcomes, retry_delay_ms,
    retry_max_ms, retry_backoff_pct, retry_jitter_pct, status, attempt_count,
    created_at, last_modified_at, next_attempt_at, event_of,
    traceparent, tracestate, payload
)
SELECT t.*
FROM temp.ended AS e
     CROSS JOIN submission_intents_told AS t
WHERE t.lease_name = e.lease_name AND t.event_of = e.intent_id;

UPDATE submission_manager_leases
SET lease_epoch = lease_epoch + 1000000,
    expires_at = 0;

DELETE FROM submission_manager_candidates;

DELETE FROM submission_manager_target_names;

COMMIT;
