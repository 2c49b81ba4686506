-- Pauses or resumes a schedule if it still has the given revision, or clears its
-- error.  Clearing an error has no actor and makes no new revision.

UPDATE submission_schedules
SET revision = iif(:action = 'retry', revision, max(revision + 1, :now)),
    paused_at = CASE :action WHEN 'pause' THEN :now WHEN 'resume' THEN NULL
                             ELSE paused_at END,
    pause_reason = CASE :action WHEN 'pause' THEN :reason
                                WHEN 'resume' THEN NULL
                                ELSE pause_reason END,
    last_error = iif(:action = 'pause', last_error, NULL),
    actor = iif(:action = 'retry', actor, :actor),
    last_modified_at = :now
WHERE lease_name = :lease_name AND schedule_id = :schedule_id
      AND revision = :revision;
