-- Keeps the names of the targets of an instance.

INSERT INTO submission_manager_target_names (
    lease_name, holder_id, names_hash, names
)
VALUES (:lease_name, :holder_id, :names_hash, :names)
ON CONFLICT (lease_name, holder_id) DO UPDATE
SET names_hash = excluded.names_hash,
    names = excluded.names;
