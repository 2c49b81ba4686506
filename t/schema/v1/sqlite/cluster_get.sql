-- The live instances, oldest first.

SELECT holder_id, role, version, started_at, heartbeat_at, expires_at
FROM submission_manager_candidates
WHERE lease_name = :lease_name AND expires_at > :now
ORDER BY started_at, holder_id;
