-- An instance lives, until :now + :duration.

INSERT INTO submission_manager_candidates (
    lease_name, holder_id, started_at, heartbeat_at, expires_at, role, version
)
VALUES (
    :lease_name, :holder_id, :now, :now, :now + :duration, :role, :version
)
ON CONFLICT (lease_name, holder_id) DO UPDATE
SET started_at = CASE WHEN expires_at <= :now THEN :now ELSE started_at END,
    heartbeat_at = excluded.heartbeat_at,
    expires_at = excluded.expires_at,
    role = excluded.role,
    version = excluded.version;
