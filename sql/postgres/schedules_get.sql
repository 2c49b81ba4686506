-- Schedules by their ids, from p_first to p_last; the payload only if it is asked
-- for.  p_special: only those of the configuration, and those that do not run.  The
-- first row has the time alone.

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
    SELECT NULL::bigint, s.schedule_id::text, s.submission_target::text,
           s.body::text, s.payload_hash::text, s.last_intent_id::text,
           s.pause_reason::text, s.last_error::text, s.actor::text,
           (s.source = 'configuration')::int::bigint, s.revision,
           submission_us(s.next_run_at), submission_us(s.last_run_at),
           s.fired_count, s.skipped_count, s.missed_count,
           submission_us(s.paused_at), submission_us(s.created_at),
           submission_us(s.last_modified_at), 0::bigint,
           CASE WHEN p_payload <> 0 THEN s.payload END
    FROM submission_schedules AS s
    WHERE s.lease_name = p_lease_name AND s.schedule_id >= p_first
          AND s.schedule_id <= p_last
          AND (p_special = 0 OR s.source = 'configuration'
               OR s.last_error IS NOT NULL)
    ORDER BY s.schedule_id
    LIMIT p_limit;
END
$$;
