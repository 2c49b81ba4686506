-- Releases the lease: anyone can acquire it at once.

UPDATE submission_manager_leases
SET expires_at = :now
WHERE lease_name = :lease_name AND holder_id = :holder_id
      AND lease_epoch = :lease_epoch AND expires_at > :now;
