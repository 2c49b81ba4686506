-- Keeps an instance in the list of candidates until :now + :duration.  If another
-- instance has written to the row since this one did, both have the same holder_id, and
-- take turns: then shared_at is set.

INSERT INTO submission_manager_candidates (
    lease_name, holder_id, started_at, heartbeat_at, expires_at, role, version,
    wake_url, config, config_since, instance_key, events
)
VALUES (
    :lease_name, :holder_id, :started_at, :now, :now + :duration, :role,
    :version, :wake_url, :config, :now, :instance_key,
    :events
)
ON CONFLICT (lease_name, holder_id) DO UPDATE
SET started_at = excluded.started_at,
    heartbeat_at = excluded.heartbeat_at,
    expires_at = excluded.expires_at,
    role = excluded.role,
    version = excluded.version,
    wake_url = excluded.wake_url,
    config = excluded.config,
    config_since = CASE WHEN config = excluded.config THEN config_since
                        ELSE excluded.config_since END,
    shared_at = CASE WHEN instance_key <> excluded.instance_key
                          AND other_key = excluded.instance_key
                     THEN excluded.heartbeat_at ELSE shared_at END,
    other_key = CASE WHEN instance_key <> excluded.instance_key
                     THEN instance_key ELSE other_key END,
    instance_key = excluded.instance_key,
    events = excluded.events;
