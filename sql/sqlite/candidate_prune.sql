-- Removes instances that were killed: their generated names never come back.

DELETE FROM submission_manager_candidates
WHERE lease_name = :lease_name AND expires_at <= :now;
