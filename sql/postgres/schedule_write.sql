-- Changes a schedule if it still has the revision p_revision, which is 0 if there
-- is none; o_done is 1 if it was changed.  p_action is put, delete, pause, resume
-- or retry.  A retry removes last_error; it is not in the audit, and keeps the
-- revision.  p_holder_id is NULL if a client calls, and not the executor.

CREATE OR REPLACE FUNCTION submission.submission_schedule_write(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_action text,
    p_schedule_id text, p_revision bigint, p_submission_target text,
    p_body text, p_payload_hash text, p_source text, p_next_run_at bigint,
    p_payload bytea, p_reason text, p_actor text, p_address text,
    p_detail text
)
RETURNS TABLE (o_now bigint, o_done bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now    timestamptz;
    v_actor  text;
BEGIN
    v_now := CASE WHEN p_holder_id IS NULL
                  THEN submission_now()
                  ELSE submission_fence(p_lease_name, p_holder_id,
                                        p_lease_epoch) END;
    v_actor := left(coalesce(p_actor, ''), 200);

    IF p_action = 'put' AND p_revision = 0 THEN
        INSERT INTO submission_schedules (
            lease_name, schedule_id, submission_target, body, payload_hash,
            source, revision, next_run_at, actor, created_at,
            last_modified_at, payload
        )
        VALUES (
            p_lease_name, p_schedule_id, p_submission_target, p_body,
            p_payload_hash, p_source, submission_us(v_now),
            submission_at(p_next_run_at), v_actor, v_now, v_now, p_payload
        )
        ON CONFLICT (lease_name, schedule_id) DO NOTHING;

    ELSIF p_action = 'put' THEN
        UPDATE submission_schedules AS s
        SET submission_target = p_submission_target,
            body = p_body,
            payload_hash = p_payload_hash,
            source = p_source,
            revision = greatest(s.revision + 1, submission_us(v_now)),
            next_run_at = submission_at(p_next_run_at),
            last_error = NULL,
            actor = v_actor,
            last_modified_at = v_now,
            payload = p_payload
        WHERE s.lease_name = p_lease_name AND s.schedule_id = p_schedule_id
              AND s.revision = p_revision;

    ELSIF p_action = 'delete' THEN
        DELETE FROM submission_schedules AS s
        WHERE s.lease_name = p_lease_name AND s.schedule_id = p_schedule_id
              AND s.revision = p_revision;

    ELSE
        UPDATE submission_schedules AS s
        SET revision = CASE WHEN p_action = 'retry'
                            THEN s.revision
                            ELSE greatest(s.revision + 1,
                                          submission_us(v_now)) END,
            paused_at = CASE p_action WHEN 'pause' THEN v_now
                                      WHEN 'resume' THEN NULL
                                      ELSE s.paused_at END,
            pause_reason = CASE p_action WHEN 'pause' THEN left(p_reason, 500)
                                         WHEN 'resume' THEN NULL
                                         ELSE s.pause_reason END,
            last_error = CASE WHEN p_action = 'pause' THEN s.last_error END,
            actor = CASE WHEN p_action = 'retry' THEN s.actor
                         ELSE v_actor END,
            last_modified_at = v_now
        WHERE s.lease_name = p_lease_name AND s.schedule_id = p_schedule_id
              AND s.revision = p_revision;
    END IF;

    IF FOUND AND p_action <> 'retry' THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     'schedule_' || p_action, p_schedule_id,
                                     p_detail);
        RETURN QUERY SELECT submission_us(v_now), 1::bigint;
        RETURN;
    END IF;

    RETURN QUERY SELECT submission_us(v_now), FOUND::int::bigint;
END
$$;
