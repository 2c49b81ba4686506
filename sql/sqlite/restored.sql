-- Run on a copy that is to take the place of a database that was lost, while no
-- nginx has it: see docs/howto/backup-and-restore.md.
--
-- What was done after the copy was made is not in it.  An intent that is pending
-- here may have been sent since: one_shot promises to send once at the most, so
-- such an intent ends here, as one whose outcome nobody knows; all others are sent
-- again with the same Idempotency-Key.  What is in flight here the next leader
-- settles by itself.
--
-- The epochs since then are not in it either: a gateway that refuses older epochs
-- would refuse all attempts.  No database has seen a million more leaders.

BEGIN IMMEDIATE;

UPDATE submission_intents
SET status = 'exhausted',
    exhausted_reason = 'outcome_unknown',
    completed_at = t.now,
    last_modified_at = t.now,
    next_attempt_at = NULL
FROM (
         SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
                * 1000 AS now
     ) AS t
WHERE status = 'pending' AND policy = 'one_shot' AND inflight_epoch IS NULL;

UPDATE submission_manager_leases
SET lease_epoch = lease_epoch + 1000000,
    expires_at = 0;

DELETE FROM submission_manager_candidates;

COMMIT;
