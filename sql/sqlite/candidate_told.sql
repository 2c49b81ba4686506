-- Reads whether the names of an instance's targets are missing, and whether another
-- instance with its holder_id has just been seen.

SELECT :names_hash IS NOT NULL
       AND NOT EXISTS (
           SELECT 1
           FROM submission_manager_target_names AS n
           WHERE n.lease_name = :lease_name AND n.holder_id = :holder_id
                 AND n.names_hash = :names_hash
       ) AS wanted,
       c.shared_at IS :now AS shared
FROM submission_manager_candidates AS c
WHERE c.lease_name = :lease_name AND c.holder_id = :holder_id;
