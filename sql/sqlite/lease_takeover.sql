-- Lets another worker of the same holder continue, with a new epoch.

UPDATE submission_manager_leases
SET lease_epoch = lease_epoch + 1,
    acquired_at = :now,
    renewed_at = :now,
    expires_at = :now + :duration
WHERE lease_name = :lease_name AND holder_id = :holder_id
      AND lease_epoch = :lease_epoch AND expires_at > :now;
