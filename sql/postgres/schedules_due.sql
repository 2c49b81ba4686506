-- The schedules whose time has come, oldest first, and whether their last intent
-- has not ended.  The first row has only the time; the second, with an empty id,
-- has as its next time when the next schedule is due.  The page ends with the row
-- by which it has p_bytes of payloads.  Schedules that another session has locked
-- are left for later.

CREATE OR REPLACE FUNCTION submission.submission_schedules_due(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_limit bigint, p_bytes bigint
)
RETURNS SETOF submission.submission_row_schedule
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now   timestamptz;
    v_next  timestamptz;
    v_row   submission_row_schedule;
BEGIN
    v_now := submission_fence_read(p_lease_name, p_holder_id, p_lease_epoch);

    SELECT s.next_run_at INTO v_next
    FROM submission_schedules AS s
    WHERE s.lease_name = p_lease_name AND s.next_run_at > v_now
          AND s.next_run_at IS NOT NULL AND s.paused_at IS NULL
          AND s.last_error IS NULL
    ORDER BY s.next_run_at
    LIMIT 1;

    v_row.o_now := submission_us(v_now);
    RETURN NEXT v_row;

    v_row.o_now := NULL;
    v_row.o_schedule_id := '';
    v_row.o_next_run_at := submission_us(v_next);
    RETURN NEXT v_row;

    RETURN QUERY
    SELECT c.*
    FROM (
             SELECT d.schedule, d.next_run_at, d.schedule_id,
                    coalesce(i.status = 'pending', false) AS busy,
                    sum(d.size) OVER (ORDER BY d.next_run_at, d.schedule_id)
                    - d.size AS began
             FROM (
                      SELECT e AS schedule, e.next_run_at, e.schedule_id,
                             e.last_intent_id,
                             octet_length(e.payload)::bigint AS size
                      FROM submission_schedules AS e
                      WHERE e.lease_name = p_lease_name
                            AND e.next_run_at <= v_now
                            AND e.next_run_at IS NOT NULL
                            AND e.paused_at IS NULL AND e.last_error IS NULL
                      ORDER BY e.next_run_at, e.schedule_id
                      LIMIT p_limit
                      FOR UPDATE SKIP LOCKED
                  ) AS d
                  LEFT JOIN LATERAL (
                      SELECT t.status
                      FROM submission_intents AS t
                      WHERE t.lease_name = p_lease_name
                            AND t.intent_id = d.last_intent_id
                      LIMIT 1
                  ) AS i
                  ON true
         ) AS s
         CROSS JOIN LATERAL submission_schedule_shown(s.schedule, s.busy,
                                                      true) AS c
    WHERE s.began < p_bytes
    ORDER BY s.next_run_at, s.schedule_id;
END
$$;
