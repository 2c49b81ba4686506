-- Removes a schedule if it still has the given revision.  Its intents stay.

DELETE FROM submission_schedules
WHERE lease_name = :lease_name AND schedule_id = :schedule_id
      AND revision = :revision;
