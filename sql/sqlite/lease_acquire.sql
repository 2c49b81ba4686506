-- Takes the lease if there is none, or if it has expired.

INSERT INTO submission_manager_leases (
    lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at
)
VALUES (:lease_name, :holder_id, 1, :now, :now, :now + :duration)
ON CONFLICT (lease_name) DO UPDATE
SET holder_id = excluded.holder_id,
    lease_epoch = lease_epoch + 1,
    acquired_at = excluded.acquired_at,
    renewed_at = excluded.renewed_at,
    expires_at = excluded.expires_at
WHERE expires_at <= :now;
