-- The keys of a page, in the order of a time and the id, ascending if p_up is 1, else
-- in descending order: strictly after (p_at, p_id), until p_end.  p_by says which time:
-- "created", "completed", or "reason", which is also completed_at, but only of intents
-- that were rejected or exhausted for p_reason, or "failed", also completed_at, of what
-- was rejected or exhausted and not replayed, with the status "failed".  NULL is any status and any target; the
-- status "failed" is both rejected and exhausted.
--
-- Each target, status and index is a seek of its own, and as many keys are read as
-- in intents_list.sql: the first keys of each seek tell how far the page goes at
-- most.  Stripped intents have an index of their own.  Targets with a space in
-- their names are hidden.
--
-- The text of the statement depends on the index and the direction, and on nothing
-- that a client has sent.

CREATE OR REPLACE FUNCTION submission.submission_intents_search(
    p_lease_name text, p_by text, p_status text, p_target text, p_reason text,
    p_up bigint, p_at bigint, p_id text, p_end bigint, p_limit bigint
)
RETURNS TABLE (o_at bigint, o_intent_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = submission, pg_temp
SET enable_sort = off
SET enable_incremental_sort = off
AS $$
DECLARE
    v_targets   text[];
    v_statuses  text[];
    v_sources   text[];
    v_column    text;
    v_places    text;
    v_parts     bigint;
    v_last      timestamptz;
    v_last_id   text;
BEGIN
    v_column := CASE WHEN p_by = 'created' THEN 'created_at'
                     ELSE 'completed_at' END;

    v_statuses := CASE WHEN p_by = 'reason' THEN ARRAY['']
                       WHEN p_status = 'failed'
                       THEN ARRAY['rejected', 'exhausted']
                       WHEN p_status IS NOT NULL THEN ARRAY[p_status]
                       WHEN p_by = 'created'
                       THEN ARRAY['pending', 'accepted', 'rejected',
                                  'exhausted', 'canceled']
                       ELSE ARRAY['accepted', 'rejected', 'exhausted',
                                  'canceled'] END;

    v_sources := CASE WHEN p_by = 'created'
                      THEN ARRAY['p.status = s.status COLLATE "C" '
                                 'AND p.attempt_count >= 0']
                      WHEN p_by = 'completed'
                      THEN ARRAY['p.status = s.status COLLATE "C" '
                                 'AND p.completed_at IS NOT NULL '
                                 'AND p.stripped_at IS NULL',
                                 'p.status = s.status COLLATE "C" '
                                 'AND p.stripped_at IS NOT NULL']
                      WHEN p_by = 'failed'
                      THEN ARRAY['p.status = s.status COLLATE "C" '
                                 'AND p.status IN (''rejected'', ''exhausted'') '
                                 'AND p.replay_count IS NULL']
                      WHEN p_status = 'rejected'
                      THEN ARRAY['p.status = ''rejected'' '
                                 'AND p.final_outcome_reason = $3']
                      WHEN p_status = 'exhausted'
                      THEN ARRAY['p.status = ''exhausted'' '
                                 'AND p.exhausted_reason = $3']
                      ELSE ARRAY['p.status = ''rejected'' '
                                 'AND p.final_outcome_reason = $3',
                                 'p.status = ''exhausted'' '
                                 'AND p.exhausted_reason = $3'] END;

    v_targets := CASE WHEN p_target IS NULL
                      THEN submission_targets_seen(p_lease_name)
                      ELSE ARRAY[p_target] END;

    -- $1 is the lease, $2 the targets, $3 the reason, $4 the statuses, $5 and $6 the
    -- start, $7 the end, $8 the keys of one seek, and $9 and $10 how far the page goes
    -- at most.

    SELECT string_agg(format(
               '(SELECT p.%1$I AS at, p.intent_id '
               'FROM submission_intents AS p '
               'WHERE p.lease_name = $1 '
               'AND p.submission_target = t.name COLLATE "C" '
               'AND %2$s '
               'AND (p.%1$I, p.intent_id) %3$s ($5, $6) '
               'AND p.%1$I %4$s $7 '
               'AND (p.%1$I, p.intent_id) %5$s ($9, $10) '
               'ORDER BY p.%1$I %6$s, p.intent_id %6$s '
               'LIMIT $8)',
               v_column, n.source,
               CASE p_up WHEN 1 THEN '>' ELSE '<' END,
               CASE p_up WHEN 1 THEN '<' ELSE '>=' END,
               CASE p_up WHEN 1 THEN '<=' ELSE '>=' END,
               CASE p_up WHEN 1 THEN 'ASC' ELSE 'DESC' END), ' UNION ALL ')
    INTO v_places
    FROM unnest(v_sources) AS n (source);

    v_places := format(
        'SELECT k.at, k.intent_id '
        'FROM unnest($2) AS t (name) CROSS JOIN unnest($4) AS s (status) '
        'CROSS JOIN LATERAL (%1$s) AS k '
        'ORDER BY k.at %2$s, k.intent_id %2$s ',
        v_places, CASE p_up WHEN 1 THEN 'ASC' ELSE 'DESC' END);

    v_last := CASE p_up WHEN 1 THEN timestamptz 'infinity'
                        ELSE timestamptz '-infinity' END;
    v_last_id := '';
    v_parts := coalesce(cardinality(v_targets), 0) * cardinality(v_statuses)
               * cardinality(v_sources);

    IF v_parts > 1 THEN
        EXECUTE v_places || 'OFFSET $11 LIMIT 1'
        INTO v_last, v_last_id
        USING p_lease_name, v_targets, p_reason, v_statuses,
              submission_at(p_at), p_id, submission_at(p_end),
              ceil(p_limit / sqrt(v_parts))::bigint, v_last, v_last_id,
              p_limit - 1;

        IF v_last IS NULL THEN
            v_last := CASE p_up WHEN 1 THEN timestamptz 'infinity'
                                ELSE timestamptz '-infinity' END;
            v_last_id := '';
        END IF;
    END IF;

    RETURN QUERY EXECUTE
        'SELECT submission_us(g.at), g.intent_id::text FROM ('
        || v_places || 'LIMIT $8) AS g'
    USING p_lease_name, v_targets, p_reason, v_statuses,
          submission_at(p_at), p_id, submission_at(p_end), p_limit, v_last,
          v_last_id;
END
$$;
