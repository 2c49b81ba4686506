-- Appends attempts and moves their intents, where this attempt of an intent is
-- in flight; one without an outcome was not sent, and is as due as it was.  The
-- first row of the answer has the time alone, the others are what was applied.
--
-- p_doc: [{"n","id","number","epoch","holder","started","finished","outcome",
-- "reason","error","status","exhausted","delay"}].  Over-long text is clipped.

CREATE OR REPLACE FUNCTION submission.submission_attempts_complete(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_doc text
)
RETURNS TABLE (o_now bigint, o_n bigint, o_next_attempt_at bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);

    RETURN QUERY
    SELECT submission_us(v_now), NULL::bigint, NULL::bigint;

    RETURN QUERY
    WITH sent AS MATERIALIZED (
        SELECT *
        FROM jsonb_to_recordset(p_doc::jsonb) AS r (
            n bigint, id text, number bigint, epoch bigint, holder text,
            started bigint, finished bigint, outcome text, reason text,
            error text, status text, exhausted text, delay bigint
        )
    ), found AS MATERIALIZED (

        -- of two of the same intent, the first

        SELECT DISTINCT ON (i.intent_id) i.ctid AS place, i.intent_id, r.*
        FROM sent AS r
             CROSS JOIN LATERAL (
                 SELECT s.ctid, s.*
                 FROM submission_intents AS s
                 WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                 LIMIT 1
             ) AS i
        WHERE i.status = 'pending' AND i.inflight_epoch = r.epoch
              AND i.inflight_holder = r.holder
              AND i.attempt_count = r.number - 1
        ORDER BY i.intent_id, r.n
    ), moved AS (
        UPDATE submission_intents AS i
        SET status = CASE WHEN r.outcome IS NULL THEN i.status
                          ELSE r.status END,
            final_outcome_status = CASE WHEN r.outcome IS NULL
                                        THEN i.final_outcome_status
                                        ELSE r.outcome END,
            final_outcome_reason = CASE WHEN r.outcome IS NULL
                                        THEN i.final_outcome_reason
                                        ELSE left(r.reason, 200) END,
            exhausted_reason = r.exhausted,
            attempt_count = i.attempt_count + CASE WHEN r.outcome IS NULL
                                                   THEN 0 ELSE 1 END,
            completed_at = CASE WHEN r.outcome IS NOT NULL
                                     AND r.status <> 'pending'
                                THEN v_now END,
            last_modified_at = v_now,
            next_attempt_at = CASE WHEN r.outcome IS NULL
                                   THEN i.inflight_at
                                   WHEN r.status = 'pending'
                                   THEN v_now + r.delay
                                                * interval '1 millisecond'
                                   END,
            inflight_epoch = NULL,
            inflight_holder = NULL,
            inflight_at = NULL
        FROM found AS r
        WHERE i.ctid = r.place
        RETURNING r.n, i.next_attempt_at
    ), appended AS (
        INSERT INTO submission_attempts (
            lease_name, intent_id, attempt_number, lease_epoch, holder_id,
            started_at, finished_at, outcome_status, outcome_reason, error
        )
        SELECT p_lease_name, r.intent_id, r.number, r.epoch, r.holder,
               submission_at(r.started), submission_at(r.finished), r.outcome,
               left(r.reason, 200), left(r.error, 1000)
        FROM found AS r
        WHERE r.outcome IS NOT NULL
    )
    SELECT NULL::bigint, m.n, submission_us(m.next_attempt_at)
    FROM moved AS m;
END
$$;
