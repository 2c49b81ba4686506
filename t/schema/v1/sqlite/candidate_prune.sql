-- Instances that ended without a word: their names never come back.

DELETE FROM submission_manager_candidates
WHERE lease_name = :lease_name AND expires_at <= :now;
