-- Extends the lease of its holder, and keeps the epoch.

UPDATE submission_manager_leases
SET renewed_at = :now, expires_at = :now + :duration
WHERE lease_name = :lease_name AND holder_id = :holder_id
      AND lease_epoch = :lease_epoch AND expires_at > :now;
