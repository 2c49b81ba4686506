-- Removes instances that have been gone for a day, because generated names never come
-- back.  One that comes back before, after an outage of the store, finds since when it
-- has its configuration.

DELETE FROM submission_manager_candidates
WHERE lease_name = :lease_name AND expires_at <= :now - 86400000000;
