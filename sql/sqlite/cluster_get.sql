-- Reads the lease and the live instances, the oldest first.  Each instance is a row.
-- The names of its targets are read if their hash is not :names_hash.

SELECT :now AS now, 0 AS held, l.holder_id, l.lease_epoch, l.acquired_at,
       l.renewed_at, l.expires_at, c.holder_id AS candidate_holder_id, c.role,
       c.version, c.started_at, c.heartbeat_at,
       c.expires_at AS candidate_expires_at, c.config, c.config_since,
       c.shared_at, n.names, c.events
FROM (SELECT 1)
     LEFT JOIN submission_manager_leases AS l
     ON l.lease_name = :lease_name
     LEFT JOIN submission_manager_candidates AS c
     ON c.lease_name = :lease_name AND c.expires_at > :now
     LEFT JOIN submission_manager_target_names AS n
     ON n.lease_name = c.lease_name AND n.holder_id = c.holder_id
        AND n.names_hash <> :names_hash
ORDER BY c.started_at, c.holder_id;
