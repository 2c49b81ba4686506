-- Submits a batch of intents.  The first row of the answer has only the time, as
-- created_at.  The rows after it are the intents that existed; those that are not
-- in the answer were created.  A row without an id is an intent that was refused:
-- its not_before is more than 365 days ahead or, if o_exhausted_reason is
-- "reserved_id", its id belongs to a schedule.
--
-- p_doc: {"contracts":[{"c",...}],"rows":[{"n","id","c","hash","at","len",
-- "before","trace","state"}],"occurrences":[{"n","schedule"}]}.  A row has the last
-- three keys if the intent has such values.  "occurrences" are the rows whose id
-- belongs to the schedule, if that exists: they are not created, but they may
-- exist.
-- p_bytes: all payloads, end to end.
-- p_rows: the number of rows, if the caller knows it.
--
-- Here and elsewhere, each row of a document is one seek, whatever the planner
-- knows of the tables.  Without statistics it expects that a manager has one
-- intent, and would begin a join there; LATERAL with a LIMIT leaves it no other
-- order.

CREATE OR REPLACE FUNCTION submission.submission_intents_submit(
    p_lease_name text, p_doc text, p_bytes bytea,
    p_rows bigint DEFAULT NULL
)
RETURNS SETOF submission.submission_row_intent
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_doc      jsonb;
    v_now      timestamptz;
    v_rows     bigint;
    v_found    bigint;
    v_refused  bigint;
    v_latest   bigint;
    v_created  text[];
    v_reserved integer[];
    v_row      submission_row_intent;
BEGIN
    v_doc := p_doc::jsonb;
    v_rows := coalesce(p_rows, jsonb_array_length(v_doc->'rows'));
    v_now := submission_now();
    v_latest := submission_us(v_now) + 31536000000000;

    IF v_doc ? 'occurrences' THEN
        SELECT array_agg(o.n) INTO v_reserved
        FROM jsonb_to_recordset(v_doc->'occurrences') AS o (
                 n integer, schedule text
             )
             CROSS JOIN LATERAL (
                 SELECT 1
                 FROM submission_schedules AS s
                 WHERE s.lease_name = p_lease_name
                       AND s.schedule_id = o.schedule
                 LIMIT 1
             ) AS e;
    END IF;

    v_created := submission_intents_new(p_lease_name, v_now, v_latest,
                                        v_reserved, v_doc, p_bytes);

    v_row.o_created_at := submission_us(v_now);
    RETURN NEXT v_row;

    IF cardinality(v_created) = v_rows THEN
        RETURN;
    END IF;

    v_row.o_created_at := NULL;
    v_refused := 0;

    FOR v_row.o_n IN
        SELECT r.n
        FROM jsonb_to_recordset(v_doc->'rows') AS r (n integer, before bigint)
        WHERE r.before > v_latest
    LOOP
        v_refused := v_refused + 1;
        RETURN NEXT v_row;
    END LOOP;

    IF v_reserved IS NOT NULL THEN
        v_row.o_exhausted_reason := 'reserved_id';

        FOR v_row.o_n IN
            SELECT r.n
            FROM jsonb_to_recordset(v_doc->'rows') AS r (
                     n integer, id text, before bigint
                 )
                 LEFT JOIN LATERAL (
                     SELECT s.intent_id
                     FROM submission_intents AS s
                     WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                     LIMIT 1
                 ) AS i
                 ON true
            WHERE r.n = ANY (v_reserved) AND i.intent_id IS NULL
                  AND (r.before IS NULL OR r.before <= v_latest)
        LOOP
            v_refused := v_refused + 1;
            RETURN NEXT v_row;
        END LOOP;
    END IF;

    -- The intents that existed.  If an id is in the document twice, the first row has
    -- created the intent.

    RETURN QUERY
    SELECT i.*
    FROM (
             SELECT s.n, s.id,
                    row_number() OVER (PARTITION BY s.id COLLATE "C"
                                       ORDER BY s.n) AS nth
             FROM jsonb_to_recordset(v_doc->'rows') AS s (
                      n integer, id text, before bigint
                  )
             WHERE s.before IS NULL OR s.before <= v_latest
         ) AS r
         CROSS JOIN LATERAL submission_intent_shown(p_lease_name, r.id, r.n) AS i
    WHERE NOT (r.nth = 1 AND r.id = ANY (v_created));

    GET DIAGNOSTICS v_found = ROW_COUNT;

    IF cardinality(v_created) + v_found + v_refused <> v_rows THEN

        -- INSERT has found the intent, and retention has removed it since.  The
        -- caller tries again, and creates it.

        RAISE EXCEPTION 'an intent was neither inserted nor found'
            USING ERRCODE = 'P7003';
    END IF;
END
$$;
