-- Removes an instance from the list of candidates.

DELETE FROM submission_manager_candidates
WHERE lease_name = :lease_name AND holder_id = :holder_id;
