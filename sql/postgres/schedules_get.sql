-- The schedules with ids from p_first to p_last, with their payloads if p_payload
-- is not 0.  If p_special is not 0, the page has only schedules of the
-- configuration and schedules that do not run.  The first row has only the time.

CREATE OR REPLACE FUNCTION submission.submission_schedules_get(
    p_lease_name text, p_first text, p_last text, p_limit bigint,
    p_special bigint, p_payload bigint
)
RETURNS SETOF submission.submission_row_schedule
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_row  submission_row_schedule;
BEGIN
    v_row.o_now := submission_us(submission_now());
    RETURN NEXT v_row;

    RETURN QUERY
    SELECT c.*
    FROM submission_schedules AS s
         CROSS JOIN LATERAL submission_schedule_shown(s, false,
                                                      p_payload <> 0) AS c
    WHERE s.lease_name = p_lease_name AND s.schedule_id >= p_first
          AND s.schedule_id <= p_last
          AND (p_special = 0 OR s.source = 'configuration'
               OR s.last_error IS NOT NULL)
    ORDER BY s.schedule_id
    LIMIT p_limit;
END
$$;
