-- Whoever ends an intent tells its webhooks, in the same transaction: an event is an
-- intent of the webhook's own target, whose payload is what a body is made of.  Where
-- to, and how often, is what the configuration says when it is sent.  trigger.sql
-- has when it is called.

CREATE OR REPLACE FUNCTION submission.submission_intent_ended()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    INSERT INTO submission_intents (
        lease_name, intent_id, submission_target, payload_hash, gateway_type,
        gateway_url, policy, max_attempts, terminal_outcomes, retry_delay_ms,
        retry_max_ms, retry_backoff_pct, retry_jitter_pct, status,
        attempt_count, created_at, last_modified_at, next_attempt_at, event_of,
        traceparent, tracestate, payload
    )
    SELECT NEW.lease_name,
           ' ' || w.name || ' ' || replace(gen_random_uuid()::text, '-', ''),
           'webhook ' || w.name, '', 'webhook', '', 'max_attempts', 1000000, '',
           5000, 0, 100, 0, 'pending', 0, NEW.completed_at,
           NEW.completed_at, NEW.completed_at, NEW.intent_id,
           NEW.traceparent, NEW.tracestate,
           submission_intent_message(NEW)
    FROM (
             SELECT substr(t.word, length(NEW.status) + 2, 64) AS name
             FROM unnest(string_to_array(NEW.notify, ' ')) AS t (word)
             WHERE t.word LIKE NEW.status || ':%'
         ) AS w;

    RETURN NULL;
END
$$;
