-- Says whether a schedule exists.

SELECT 1
FROM submission_schedules
WHERE lease_name = :lease_name AND schedule_id = :schedule_id;
