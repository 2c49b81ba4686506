-- The trigger that tells webhooks of the ends of intents.  sql/install.sh makes it
-- last, as making a trigger locks the table for writers until the transaction
-- commits.  A trigger has the hash of its definition as its comment: if that is the
-- same, nothing is changed, and nothing is locked.

SET search_path = submission, pg_temp;

DO $$
DECLARE
    v_trigger  constant text := $t$
        CREATE TRIGGER submission_intents_ended
        AFTER UPDATE OF status ON submission_intents
        FOR EACH ROW
        WHEN (NEW.notify IS NOT NULL AND OLD.status = 'pending'
              AND NEW.status <> 'pending')
        EXECUTE FUNCTION submission_intent_ended()
    $t$;
    v_oid      oid;
BEGIN
    SELECT t.oid INTO v_oid
    FROM pg_trigger AS t
    WHERE t.tgrelid = 'submission_intents'::regclass
          AND t.tgname = 'submission_intents_ended';

    IF obj_description(v_oid, 'pg_trigger') = md5(v_trigger) THEN
        RETURN;
    END IF;

    IF v_oid IS NOT NULL THEN
        DROP TRIGGER submission_intents_ended ON submission_intents;
    END IF;

    EXECUTE v_trigger;
    EXECUTE format('COMMENT ON TRIGGER submission_intents_ended '
                   'ON submission_intents IS %L', md5(v_trigger));
END
$$;
