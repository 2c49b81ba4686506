-- Removes the names of targets of instances that are gone.

DELETE FROM submission_manager_target_names
WHERE lease_name = :lease_name
      AND holder_id NOT IN (
          SELECT holder_id
          FROM submission_manager_candidates
          WHERE lease_name = :lease_name AND expires_at > :now
      );
