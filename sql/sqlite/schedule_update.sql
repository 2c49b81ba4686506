-- Replaces the definition of a schedule if it still has the given revision.  Its
-- counts, its last run and its pause stay.

UPDATE submission_schedules
SET submission_target = :submission_target,
    body = :body,
    payload_hash = :payload_hash,
    source = :source,
    revision = max(revision + 1, :now),
    next_run_at = :next_run_at,
    last_error = NULL,
    actor = :actor,
    last_modified_at = :now,
    payload = :payload
WHERE lease_name = :lease_name AND schedule_id = :schedule_id
      AND revision = :revision;
