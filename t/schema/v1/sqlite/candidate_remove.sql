DELETE FROM submission_manager_candidates
WHERE lease_name = :lease_name AND holder_id = :holder_id;
