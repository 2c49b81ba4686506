-- Pauses a target, unless it is paused.

INSERT INTO submission_targets (
    lease_name, submission_target, state, since, reason, actor
)
VALUES (:lease_name, :target, 'paused', :now, :reason, :actor)
ON CONFLICT (lease_name, submission_target) DO UPDATE
SET state = excluded.state,
    since = excluded.since,
    reason = excluded.reason,
    actor = excluded.actor
WHERE submission_targets.state <> 'paused';
