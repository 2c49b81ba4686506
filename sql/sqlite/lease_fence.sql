-- Checks that the lease is still held.  It is the first statement of every transaction
-- of an executor.  It changes nothing, but locks the row until the transaction ends,
-- and finds no row if the lease was lost.

UPDATE submission_manager_leases
SET lease_epoch = lease_epoch
WHERE lease_name = :lease_name AND holder_id = :holder_id
      AND lease_epoch = :lease_epoch AND expires_at > :now;
