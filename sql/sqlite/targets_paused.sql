-- Reads the targets that are paused.

SELECT :now AS now, submission_target, since, reason, actor
FROM submission_targets
WHERE lease_name = :lease_name AND state = 'paused';
