-- The lease as it is, and where its holder is told.

SELECT submission_manager_leases.holder_id, lease_epoch, acquired_at,
       renewed_at, submission_manager_leases.expires_at, wake_url
FROM submission_manager_leases
     LEFT JOIN submission_manager_candidates USING (lease_name, holder_id)
WHERE submission_manager_leases.lease_name = :lease_name;
