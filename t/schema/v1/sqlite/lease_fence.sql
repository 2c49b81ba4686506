-- The first statement of every transaction of an executor: changes nothing, locks
-- the row to the end of it, and finds no row when the lease is not held any more.

UPDATE submission_manager_leases
SET lease_epoch = lease_epoch
WHERE lease_name = :lease_name AND holder_id = :holder_id
      AND lease_epoch = :lease_epoch AND expires_at > :now;
