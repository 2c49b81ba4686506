-- Removes a schedule that has still the revision.  Its intents stay.

DELETE FROM submission_schedules
WHERE lease_name = :lease_name AND schedule_id = :schedule_id
      AND revision = :revision;
