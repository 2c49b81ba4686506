-- Copies an intent that has ended, under another id.  The copy has the contract
-- that is given, or that of its original if p_contract is NULL, and the trace that
-- is given, or that of its original.  o_outcome is 1 if the copy was made, 2 if it
-- was made before, 3 if another intent has the id, 4 if the id belongs to the
-- schedule p_schedule, which exists, and 5 if the intent was replayed before and
-- p_again is 0.  There is no row if there is no such intent that has ended and has
-- its payload.
--
-- The intent is locked first: of two who replay it at once, the second finds that it
-- was replayed.

CREATE OR REPLACE FUNCTION submission.submission_intent_replay(
    p_lease_name text, p_intent_id text, p_new_id text, p_contract text,
    p_actor text, p_address text, p_detail text, p_traceparent text,
    p_tracestate text, p_schedule text DEFAULT NULL, p_again bigint DEFAULT 0
)
RETURNS TABLE (o_outcome bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
    v_doc  jsonb;
BEGIN
    v_now := submission_now();

    IF p_schedule IS NOT NULL
       AND EXISTS (SELECT 1
                   FROM submission_schedules AS s
                   WHERE s.lease_name = p_lease_name
                         AND s.schedule_id = p_schedule)
    THEN
        RETURN QUERY SELECT 4::bigint;
        RETURN;
    END IF;

    v_doc := jsonb_build_object(
                 'contracts', jsonb_build_array(
                     jsonb_build_object('c', 0, 'd', p_contract::jsonb)),
                 'items', jsonb_build_array(
                     jsonb_build_object('id', p_intent_id, 'new', p_new_id,
                                        'c', 0)));

    IF p_again <> 0 THEN
        v_doc := v_doc || '{"again":1}';
    END IF;

    PERFORM 1
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
    FOR UPDATE;

    IF submission_intents_copy(p_lease_name, v_now, v_doc, p_traceparent,
                               p_tracestate) = 1
    THEN
        PERFORM submission_audit_add(p_lease_name, v_now, p_actor, p_address,
                                     'replay', p_intent_id, p_detail);
        RETURN QUERY SELECT 1::bigint;
        RETURN;
    END IF;

    RETURN QUERY
    SELECT CASE WHEN i.replay_of = p_intent_id THEN 2 ELSE 3 END::bigint
    FROM submission_intents AS i
    WHERE i.lease_name = p_lease_name AND i.intent_id = p_new_id;

    IF NOT FOUND THEN
        RETURN QUERY
        SELECT 5::bigint
        FROM submission_intents AS i
        WHERE i.lease_name = p_lease_name AND i.intent_id = p_intent_id
              AND i.replay_count IS NOT NULL AND i.stripped_at IS NULL
              AND p_again = 0;
    END IF;
END
$$;
