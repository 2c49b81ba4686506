-- A batch of a pass of retention over the targets, from the one after p_after on.
-- An intent that ended long ago is stripped: it loses its payload and its attempts.
-- Later it is forgotten: its row is removed.  At the end of the pass come the
-- audit, the refusals of the inbox, and the jobs.  A batch changes p_limit rows at
-- most, those of attempts among them.
--
-- The first row of the answer has only the time.  The second has what was done, the
-- number of rows that were changed, whether the pass has ended, the last target
-- that is done (o_done), and where in the next target the batch has stopped
-- (o_place).  The last two are p_after and p_from of the next batch.
--
-- Removed rows stay in the indexes while a transaction such as pg_dump's could see
-- them, and whoever reads from the oldest row on passes all of them.  So a batch
-- begins where the one before has stopped, and a pass begins with rows that were
-- not due at p_since.  A batch looks for rows before it locks the lease, so that
-- turns of the executor do not wait for it.  The rows that it has found stay the
-- same until then: its own snapshot keeps their places from being used again, and
-- nobody else changes intents that have ended.
--
-- p_from: {"target","status","kind","at","id"}, or NULL; kind is 1 for intents to
-- be forgotten, and 2 for intents to be stripped.
-- p_rules: [{"status","strip","forget"}], both in microseconds since the end;
-- "strip" is not longer than "forget".  p_audit, p_refused, p_jobs: times of the
-- same kind; 0 is for ever.
--
-- Rows go from one statement to the next in arrays: in a join, a planner without
-- statistics may begin with the table.

CREATE OR REPLACE FUNCTION submission.submission_retention(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_after text, p_limit bigint, p_rules text, p_audit bigint,
    p_refused bigint, p_jobs bigint, p_from text DEFAULT NULL,
    p_since bigint DEFAULT 0
)
RETURNS TABLE (
    o_now bigint, o_stripped bigint, o_forgotten bigint, o_others bigint,
    o_rows bigint, o_overdue bigint, o_end bigint, o_done text,
    o_place text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
AS $$
DECLARE
    v_now        timestamptz;
    v_before     timestamptz;
    v_oldest     timestamptz;
    v_target     text;
    v_done       text;
    v_id         text;
    v_ids        text[];
    v_places     tid[];
    v_left       bigint;
    v_n          bigint;
    v_cost       bigint;
    v_found      bigint;
    v_stripped   bigint;
    v_forgotten  bigint;
    v_others     bigint;
    v_late       interval;
    v_end        boolean;
    v_rule       record;
    v_from       jsonb;
    v_at         timestamptz;
    v_after      text;
    v_last       timestamptz;
    v_last_id    text;
    v_fenced     boolean;
BEGIN
    v_now := submission_fence_read(p_lease_name, p_holder_id, p_lease_epoch);
    v_from := p_from::jsonb;
    v_fenced := false;
    v_done := p_after;
    v_left := p_limit;
    v_stripped := 0;
    v_forgotten := 0;
    v_others := 0;
    v_late := interval '0';
    v_end := false;

    <<targets>>
    FOR i IN 1 .. 32 LOOP
        v_target := v_from->>'target';

        IF v_target IS NULL THEN
            SELECT s.submission_target INTO v_target
            FROM submission_intents AS s
            WHERE s.lease_name = p_lease_name
                  AND s.submission_target > v_done COLLATE "C"
                  AND s.attempt_count >= 0
            ORDER BY s.submission_target
            LIMIT 1;

            IF NOT FOUND THEN
                v_end := true;
                EXIT;
            END IF;
        END IF;

        FOR v_rule IN
            SELECT r.rule->>'status' AS status, k.kind, k.age
            FROM jsonb_array_elements(p_rules::jsonb)
                     WITH ORDINALITY AS r (rule, n)
                 CROSS JOIN LATERAL (
                     VALUES (1, (r.rule->>'forget')::bigint),
                            (2, (r.rule->>'strip')::bigint)
                 ) AS k (kind, age)
            WHERE k.age IS NOT NULL
            ORDER BY r.n, k.kind
        LOOP
            -- The batch before this one has done what comes before its place.

            CONTINUE WHEN v_rule.status <> v_from->>'status'
                          OR v_rule.kind < (v_from->>'kind')::bigint;

            v_before := submission_at(submission_us(v_now) - v_rule.age);

            IF v_rule.kind = (v_from->>'kind')::bigint THEN
                v_at := submission_at((v_from->>'at')::bigint);
                v_after := v_from->>'id';
            ELSE
                v_at := CASE WHEN p_since > 0
                             THEN submission_at(p_since - v_rule.age)
                             ELSE '-infinity' END;
                v_after := '';
            END IF;

            IF v_rule.kind = 1 THEN
                SELECT array_agg(f.place), min(f.completed_at), count(*),
                       max(f.completed_at),
                       (array_agg(f.intent_id::text
                                  ORDER BY f.completed_at DESC,
                                           f.intent_id DESC))[1]
                INTO v_places, v_oldest, v_found, v_last, v_last_id
                FROM (
                         SELECT s.ctid AS place, s.completed_at, s.intent_id
                         FROM submission_intents AS s
                         WHERE s.lease_name = p_lease_name
                               AND s.submission_target = v_target
                               AND s.status = v_rule.status
                               AND s.completed_at <= v_before
                               AND (s.completed_at, s.intent_id)
                                   > (v_at, v_after)
                               AND s.stripped_at IS NOT NULL
                         ORDER BY s.completed_at, s.intent_id
                         LIMIT v_left
                     ) AS f;
            ELSE
                -- As many as fit into the batch with their attempts.

                SELECT array_agg(o.intent_id::text)
                           FILTER (WHERE o.cost <= v_left),
                       array_agg(o.place) FILTER (WHERE o.cost <= v_left),
                       max(o.cost) FILTER (WHERE o.cost <= v_left),
                       min(o.completed_at),
                       (array_agg(o.intent_id::text ORDER BY o.cost))[1],
                       count(*),
                       max(o.completed_at) FILTER (WHERE o.cost <= v_left),
                       (array_agg(o.intent_id::text ORDER BY o.cost DESC)
                            FILTER (WHERE o.cost <= v_left))[1]
                INTO v_ids, v_places, v_cost, v_oldest, v_id, v_found, v_last,
                     v_last_id
                FROM (
                         SELECT f.intent_id, f.place, f.completed_at,
                                sum(f.attempt_count + 1)
                                    OVER (ORDER BY f.completed_at, f.intent_id)
                                AS cost
                         FROM (
                                  SELECT s.intent_id, s.ctid AS place,
                                         s.completed_at, s.attempt_count
                                  FROM submission_intents AS s
                                  WHERE s.lease_name = p_lease_name
                                        AND s.submission_target = v_target
                                        AND s.status = v_rule.status
                                        AND s.completed_at <= v_before
                                        AND (s.completed_at, s.intent_id)
                                            > (v_at, v_after)
                                        AND s.completed_at IS NOT NULL
                                        AND s.stripped_at IS NULL
                                  ORDER BY s.completed_at, s.intent_id
                                  LIMIT v_left
                              ) AS f
                     ) AS o;
            END IF;

            v_late := greatest(v_late, v_before - v_oldest);

            IF v_found > 0 AND NOT v_fenced THEN
                PERFORM submission_fence(p_lease_name, p_holder_id,
                                         p_lease_epoch);
                v_fenced := true;
            END IF;

            IF v_rule.kind = 1 THEN
                DELETE FROM submission_intents
                WHERE ctid = ANY (v_places) AND stripped_at IS NOT NULL;

                GET DIAGNOSTICS v_n = ROW_COUNT;

                v_forgotten := v_forgotten + v_n;
                v_left := v_left - v_n;
            ELSE
                -- If no intent fits, the next batch begins at the same place.

                IF v_last IS NULL THEN
                    v_last := v_at;
                    v_last_id := v_after;
                END IF;

                DELETE FROM submission_attempts
                WHERE ctid = ANY (ARRAY(
                          SELECT a.ctid
                          FROM unnest(v_ids) AS r (id)
                               CROSS JOIN LATERAL (
                                   SELECT t.ctid
                                   FROM submission_attempts AS t
                                   WHERE t.lease_name = p_lease_name
                                         AND t.intent_id = r.id
                                   LIMIT p_limit
                               ) AS a
                      ));

                UPDATE submission_intents
                SET payload = '',
                    stripped_at = v_now
                WHERE ctid = ANY (v_places) AND completed_at IS NOT NULL;

                GET DIAGNOSTICS v_n = ROW_COUNT;

                v_stripped := v_stripped + v_n;

                IF v_n = 0 AND v_id IS NOT NULL THEN

                    -- The intent has more attempts than a batch may remove:
                    -- some of them go now.

                    WITH old AS MATERIALIZED (
                        SELECT a.attempt_number
                        FROM submission_attempts AS a
                        WHERE a.lease_name = p_lease_name
                              AND a.intent_id = v_id
                        ORDER BY a.attempt_number
                        LIMIT v_left
                    )
                    DELETE FROM submission_attempts AS a
                    USING old AS o
                    WHERE a.lease_name = p_lease_name AND a.intent_id = v_id
                          AND a.attempt_number = o.attempt_number;

                    GET DIAGNOSTICS v_n = ROW_COUNT;

                    IF v_n < v_left THEN
                        UPDATE submission_intents
                        SET payload = '',
                            stripped_at = v_now
                        WHERE lease_name = p_lease_name AND intent_id = v_id;

                        v_stripped := v_stripped + 1;
                    END IF;

                    v_left := 0;

                ELSIF v_n < v_found THEN
                    v_left := 0;            -- the next intent did not fit

                ELSIF v_n > 0 THEN
                    v_left := v_left - v_cost;
                END IF;
            END IF;

            v_from := NULL;

            IF v_left <= 0 THEN
                v_from := jsonb_build_object(
                              'target', v_target, 'status', v_rule.status,
                              'kind', v_rule.kind, 'id', v_last_id,
                              'at', CASE WHEN isfinite(v_last)
                                         THEN submission_us(v_last)
                                         ELSE 0 END);
                EXIT targets;
            END IF;
        END LOOP;

        v_from := NULL;
        v_done := v_target;
    END LOOP;

    IF v_end AND NOT v_fenced THEN
        PERFORM submission_fence(p_lease_name, p_holder_id, p_lease_epoch);
    END IF;

    IF v_end AND p_audit > 0 THEN
        DELETE FROM submission_audit
        WHERE seq IN (SELECT a.seq
                      FROM submission_audit AS a
                      WHERE a.lease_name = p_lease_name
                            AND a.at <= submission_at(submission_us(v_now)
                                                      - p_audit)
                      ORDER BY a.at, a.seq
                      LIMIT v_left);

        GET DIAGNOSTICS v_n = ROW_COUNT;

        v_others := v_others + v_n;
        v_left := v_left - v_n;
    END IF;

    IF v_end AND p_refused > 0 AND v_left > 0 THEN
        DELETE FROM submission_inbox_refused
        WHERE lease_name = p_lease_name
              AND (refused_at, seq) IN (
                  SELECT b.refused_at, b.seq
                  FROM submission_inbox_refused AS b
                  WHERE b.lease_name = p_lease_name
                        AND b.refused_at <= submission_at(submission_us(v_now)
                                                          - p_refused)
                  ORDER BY b.refused_at, b.seq
                  LIMIT v_left
              );

        GET DIAGNOSTICS v_n = ROW_COUNT;

        v_others := v_others + v_n;
        v_left := v_left - v_n;
    END IF;

    -- No job ends before it was created, so created_at bounds the search.

    IF v_end AND p_jobs > 0 AND v_left > 0 THEN
        v_before := submission_at(submission_us(v_now) - p_jobs);

        DELETE FROM submission_jobs
        WHERE ctid = ANY (ARRAY(
                  SELECT j.ctid
                  FROM submission_jobs AS j
                  WHERE j.lease_name = p_lease_name
                        AND j.kind IN ('replay', 'cancel')
                        AND j.created_at <= v_before
                        AND j.completed_at <= v_before
                  LIMIT v_left
              ));

        GET DIAGNOSTICS v_n = ROW_COUNT;

        v_others := v_others + v_n;
        v_left := v_left - v_n;
    END IF;

    RETURN QUERY
    SELECT submission_us(v_now), NULL::bigint, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bigint, NULL::bigint, NULL, NULL;

    RETURN QUERY
    SELECT NULL::bigint, v_stripped, v_forgotten, v_others,
           p_limit - v_left,
           (extract(epoch FROM v_late) * 1000000)::bigint,
           (v_end AND v_left > 0)::integer::bigint, v_done, v_from::text;
END
$$;
