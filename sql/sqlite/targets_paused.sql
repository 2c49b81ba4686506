-- The targets that are paused.

SELECT submission_target, since, reason, actor
FROM submission_targets
WHERE lease_name = :lease_name AND state = 'paused';
