-- Removes instances that were killed, because their generated names never come back.

DELETE FROM submission_manager_candidates
WHERE lease_name = :lease_name AND expires_at <= :now;
