-- Reads the lease.

SELECT holder_id, lease_epoch, acquired_at, renewed_at, expires_at
FROM submission_manager_leases
WHERE lease_name = :lease_name;
