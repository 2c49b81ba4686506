-- Applies a batch of a job, and notes how far the job is then, in one transaction.
-- The first row of the answer has only the time.  If the job is running, and has
-- seen p_seen intents, a row with o_n = -1 has the number of items that were done,
-- and each item that was canceled has a row with its place.
--
-- p_doc: {"again","contracts":[{"c","d":{...}}],"items":[{"n","id","new","c"}]}, of
-- which submission_intents_copy makes replays.  An item is skipped if its intent is
-- in flight, has lost its payload, was replayed before (unless "again" is there), or
-- is locked by another session, or if another intent has the new id.

CREATE OR REPLACE FUNCTION submission.submission_job_apply(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_kind text,
    p_job_id text, p_seen bigint, p_seen_after bigint, p_skipped bigint,
    p_position text, p_state text, p_error text, p_doc text
)
RETURNS TABLE (o_now bigint, o_n bigint, o_done bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now   timestamptz;
    v_doc   jsonb;
    v_gone  bigint[];
    v_done  bigint;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);
    v_doc := p_doc::jsonb;

    o_now := submission_us(v_now);
    RETURN NEXT;

    PERFORM 1
    FROM submission_jobs AS j
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND j.job_id = p_job_id AND j.completed_at IS NULL
          AND j.seen_count = p_seen
    FOR UPDATE;

    IF NOT FOUND THEN
        RETURN;
    END IF;

    IF p_kind = 'cancel' THEN

        WITH item AS MATERIALIZED (
            SELECT r.n, r.id
            FROM jsonb_to_recordset(v_doc->'items') AS r (n bigint, id text)
        ), changed AS (
            UPDATE submission_intents AS i
            SET status = 'canceled',
                completed_at = v_now,
                last_modified_at = v_now,
                next_attempt_at = NULL
            FROM item AS m
                 CROSS JOIN LATERAL (

                     -- An intent that another session has locked is skipped.

                     SELECT 1
                     FROM submission_intents AS s
                     WHERE s.lease_name = p_lease_name
                           AND s.intent_id = m.id COLLATE "C"
                     FOR UPDATE SKIP LOCKED
                 ) AS l
            WHERE i.lease_name = p_lease_name
                  AND i.intent_id = m.id COLLATE "C"
                  AND i.status = 'pending' AND i.inflight_epoch IS NULL
            RETURNING m.n
        )
        SELECT array_agg(c.n), count(*) INTO v_gone, v_done
        FROM changed AS c;

    ELSE
        v_done := submission_intents_copy(p_lease_name, v_now, v_doc, NULL,
                                          NULL);
    END IF;

    UPDATE submission_jobs AS j
    SET state = p_state,
        position = coalesce(p_position, j.position),
        seen_count = p_seen_after,
        done_count = j.done_count + v_done,
        skipped_count = j.skipped_count + p_skipped
                        + jsonb_array_length(v_doc->'items') - v_done,
        last_error = coalesce(left(p_error, 1000), j.last_error),
        started_at = coalesce(j.started_at, v_now),
        last_modified_at = v_now,
        completed_at = CASE WHEN p_state <> 'running' THEN v_now END
    WHERE j.lease_name = p_lease_name AND j.kind = p_kind
          AND j.job_id = p_job_id;

    RETURN QUERY
    SELECT NULL::bigint, -1::bigint, v_done
    UNION ALL
    SELECT NULL::bigint, g.n, NULL::bigint
    FROM unnest(v_gone) AS g (n);
END
$$;
