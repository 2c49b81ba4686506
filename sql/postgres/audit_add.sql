-- Adds an entry to the audit, in the transaction that does what the entry says.
-- nginx does not call this function.

CREATE OR REPLACE FUNCTION submission.submission_audit_add(
    p_lease_name text, p_at timestamptz, p_actor text, p_address text,
    p_action text, p_object text, p_detail text
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = submission, pg_temp
AS $$
BEGIN
    INSERT INTO submission_audit (
        lease_name, at, actor, address, action, object, detail
    )
    VALUES (
        p_lease_name, p_at, left(coalesce(p_actor, ''), 200),
        left(coalesce(p_address, ''), 64), p_action, p_object,
        left(p_detail, 2000)
    );
END
$$;
