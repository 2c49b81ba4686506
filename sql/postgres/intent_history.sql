-- A page of the attempts of an intent, newest first, before the number p_before, or
-- from the newest on if that is NULL.  Each row has the intent, too; if the page
-- has no attempt, there is one row with the intent alone.

CREATE OR REPLACE FUNCTION submission.submission_intent_history(
    p_lease_name text, p_intent_id text, p_limit bigint, p_before bigint
)
RETURNS SETOF submission.submission_row_history
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
AS $$
DECLARE
    v_before  bigint;
BEGIN
    v_before := coalesce(p_before, 9223372036854775807);

    RETURN QUERY
    SELECT i.*, a.attempt_number, submission_us(a.started_at),
           submission_us(a.finished_at), a.outcome_status::text,
           a.outcome_reason::text, a.error::text, a.http_status::bigint,
           a.answer::text, a.span_id::text, a.lease_epoch::bigint
    FROM submission_intent_shown(p_lease_name, p_intent_id, 0) AS i
         LEFT JOIN LATERAL (
             SELECT *
             FROM submission_attempts AS s
             WHERE s.lease_name = p_lease_name AND s.intent_id = p_intent_id
                   AND s.attempt_number < v_before
             ORDER BY s.attempt_number DESC
             LIMIT p_limit
         ) AS a ON true
    ORDER BY a.attempt_number DESC;
END
$$;
