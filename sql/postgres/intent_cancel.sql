-- Cancels an intent that is pending and has no attempt in flight.  o_outcome is 1
-- if it was canceled, 2 if it was canceled before, 3 if it is in flight, and 4 if
-- it has ended otherwise.  There is no row if there is no such intent.
--
-- If a turn of the executor is beginning an attempt of this intent, UPDATE waits
-- for the turn, and looks at the row again; it holds no other lock meanwhile.  A
-- turn that comes later waits for this transaction, and finds that the intent is
-- not pending.

CREATE OR REPLACE FUNCTION submission.submission_intent_cancel(
    p_lease_name text, p_intent_id text, p_actor text, p_address text
)
RETURNS TABLE (o_outcome bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now     timestamptz;
    v_intent  record;
BEGIN
    FOR i IN 1 .. 20 LOOP
        UPDATE submission_intents
        SET status = 'canceled',
            completed_at = submission_now(),
            last_modified_at = submission_now(),
            next_attempt_at = NULL
        WHERE lease_name = p_lease_name AND intent_id = p_intent_id
              AND status = 'pending' AND inflight_epoch IS NULL
        RETURNING completed_at INTO v_now;

        IF FOUND THEN
            PERFORM submission_audit_add(p_lease_name, v_now, p_actor,
                                         p_address, 'cancel', p_intent_id,
                                         NULL);
            RETURN QUERY SELECT 1::bigint;
            RETURN;
        END IF;

        SELECT s.status, s.inflight_epoch INTO v_intent
        FROM submission_intents AS s
        WHERE s.lease_name = p_lease_name AND s.intent_id = p_intent_id;

        IF NOT FOUND THEN
            RETURN;
        END IF;

        -- Otherwise an attempt has ended between the two statements.

        EXIT WHEN v_intent.status <> 'pending'
                  OR v_intent.inflight_epoch IS NOT NULL;
    END LOOP;

    RETURN QUERY
    SELECT CASE v_intent.status WHEN 'pending' THEN 3 WHEN 'canceled' THEN 2
                                ELSE 4 END::bigint;
END
$$;
