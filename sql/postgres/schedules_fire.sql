-- Makes the intents of schedules, and moves the schedules on, in one transaction,
-- if all of them are still as they were read; otherwise nothing is changed, and the
-- answer has only the time.  In the rows after that, o_n is the place in p_rows of
-- a schedule that was moved on, or -1; then o_k is the place in p_doc of an intent
-- that existed, and the other columns describe that intent.
--
-- p_doc, p_bytes: as for submission_intents_submit; NULL if there is no intent to
-- make.
-- p_rows: [{"n","id","rev","planned","next","last","lastId","fired","skipped",
-- "missed","error"}].  A schedule without "planned" is run by hand, and its next
-- time stays.  Its last occurrence stays, too, if that is pending, or if its parts
-- are still being made: then the next time had come when the last part was made.
-- An intent that existed was not made by this schedule, and does not become its
-- last one.
-- p_holder_id: NULL if a client runs the schedules, which is noted in the audit,
-- and not the executor.

CREATE OR REPLACE FUNCTION submission.submission_schedules_fire(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_doc text, p_bytes bytea, p_rows text, p_actor text, p_address text,
    p_detail text
)
RETURNS TABLE (
    o_now bigint, o_n bigint, o_k bigint, o_payload_hash text,
    o_submission_target text, o_not_before bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now   timestamptz;
    v_rows  jsonb;
    v_ids   text[];
    v_kept  boolean;
    v_found text[];
    i       record;
    r       record;
BEGIN
    v_now := CASE WHEN p_holder_id IS NULL
                  THEN submission_now()
                  ELSE submission_fence(p_lease_name, p_holder_id,
                                        p_lease_epoch) END;
    v_rows := p_rows::jsonb;

    o_now := submission_us(v_now);
    RETURN NEXT;

    -- Schedules are locked in the order of their ids, so that sessions do not wait for
    -- one another in a circle.

    SELECT array_agg(l.id) INTO v_ids
    FROM (
             SELECT e.id
             FROM (
                      SELECT m.id, m.rev, m.planned
                      FROM jsonb_to_recordset(v_rows) AS m (
                               id text, rev bigint, planned bigint
                           )
                      ORDER BY m.id COLLATE "C"
                  ) AS e
                  CROSS JOIN LATERAL (
                      SELECT 1
                      FROM submission_schedules AS s
                      WHERE s.lease_name = p_lease_name
                            AND s.schedule_id = e.id AND s.revision = e.rev
                            AND (e.planned IS NULL
                                 OR (s.next_run_at = submission_at(e.planned)
                                     AND s.paused_at IS NULL
                                     AND s.last_error IS NULL))
                      FOR UPDATE
                  ) AS t
         ) AS l;

    IF coalesce(cardinality(v_ids), 0) <> jsonb_array_length(v_rows) THEN
        RETURN;
    END IF;

    v_found := '{}';

    IF p_doc IS NOT NULL THEN
        FOR i IN
            SELECT *
            FROM submission_intents_submit(p_lease_name, p_doc, p_bytes) AS s
            WHERE s.o_n IS NOT NULL
        LOOP
            v_found := v_found || i.o_intent_id;

            RETURN QUERY
            SELECT NULL::bigint, -1::bigint, i.o_n, i.o_payload_hash,
                   i.o_submission_target, i.o_not_before;
        END LOOP;
    END IF;

    -- One by one, as a join might begin with all schedules of the manager.

    FOR r IN
        SELECT *
        FROM jsonb_to_recordset(v_rows) AS m (
                 id text, planned bigint, next bigint, last bigint,
                 "lastId" text, fired bigint, skipped bigint, missed bigint,
                 error text
             )
    LOOP
        IF r.planned IS NULL THEN
            SELECT (s.last_run_at < s.next_run_at
                    AND s.next_run_at <= s.last_fired_at)
                   OR (SELECT t.status = 'pending'
                       FROM submission_intents AS t
                       WHERE t.lease_name = p_lease_name
                             AND t.intent_id = s.last_intent_id
                       LIMIT 1)
            INTO v_kept
            FROM submission_schedules AS s
            WHERE s.lease_name = p_lease_name AND s.schedule_id = r.id;

            IF v_kept THEN
                r.last := NULL;
                r."lastId" := NULL;
            END IF;
        END IF;

        IF r."lastId" = ANY (v_found) THEN
            r."lastId" := NULL;
        END IF;

        UPDATE submission_schedules AS s
        SET next_run_at = CASE WHEN r.planned IS NULL
                               THEN s.next_run_at
                               ELSE submission_at(r.next) END,
            last_run_at = coalesce(submission_at(r.last), s.last_run_at),
            last_fired_at = CASE WHEN r.last IS NULL
                                 THEN s.last_fired_at
                                 ELSE v_now END,
            last_intent_id = coalesce(r."lastId", s.last_intent_id),
            fired_count = s.fired_count + r.fired,
            skipped_count = s.skipped_count + r.skipped,
            missed_count = s.missed_count + r.missed,
            last_error = coalesce(r.error, s.last_error)
        WHERE s.lease_name = p_lease_name AND s.schedule_id = r.id;
    END LOOP;

    IF p_holder_id IS NULL THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     'schedule_run', m.id, p_detail)
        FROM jsonb_to_recordset(v_rows) AS m (id text);
    END IF;

    RETURN QUERY
    SELECT NULL::bigint, m.n, NULL::bigint, NULL::text, NULL::text,
           NULL::bigint
    FROM jsonb_to_recordset(v_rows) AS m (n bigint);
END
$$;
