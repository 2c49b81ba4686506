-- Reads the lease, and the wake_url of its holder.

SELECT :now AS now, 0 AS held, l.holder_id, l.lease_epoch, l.acquired_at,
       l.renewed_at, l.expires_at, c.wake_url
FROM (SELECT 1)
     LEFT JOIN submission_manager_leases AS l
     ON l.lease_name = :lease_name
     LEFT JOIN submission_manager_candidates AS c
     ON c.lease_name = l.lease_name AND c.holder_id = l.holder_id;
