-- Resumes a target that is paused.

UPDATE submission_targets
SET state = 'open',
    since = :now,
    reason = :reason,
    actor = :actor
WHERE lease_name = :lease_name AND submission_target = :target
      AND state = 'paused';
