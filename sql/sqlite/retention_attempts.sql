-- Removes attempts of an intent, beginning with the first.

DELETE FROM submission_attempts
WHERE lease_name = :lease_name AND intent_id = :intent_id
      AND attempt_number IN (
          SELECT attempt_number
          FROM submission_attempts
          WHERE lease_name = :lease_name AND intent_id = :intent_id
          ORDER BY attempt_number
          LIMIT :limit
      );
