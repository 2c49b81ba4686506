-- Keeps an instance in the list of candidates until :now + :duration.

INSERT INTO submission_manager_candidates (
    lease_name, holder_id, started_at, heartbeat_at, expires_at, role, version,
    wake_url
)
VALUES (
    :lease_name, :holder_id, :started_at, :now, :now + :duration, :role,
    :version, :wake_url
)
ON CONFLICT (lease_name, holder_id) DO UPDATE
SET started_at = excluded.started_at,
    heartbeat_at = excluded.heartbeat_at,
    expires_at = excluded.expires_at,
    role = excluded.role,
    version = excluded.version,
    wake_url = excluded.wake_url;
