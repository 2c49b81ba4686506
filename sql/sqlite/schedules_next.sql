-- When the next schedule is due.

SELECT next_run_at
FROM submission_schedules
WHERE lease_name = :lease_name AND next_run_at > :now
      AND next_run_at IS NOT NULL AND paused_at IS NULL
      AND last_error IS NULL
ORDER BY next_run_at
LIMIT 1;
