-- Tells the webhooks of an intent that it has ended, in the transaction that ends
-- it: makes an event for each of them.  An event is an intent of the target of the
-- webhook, and its payload is what the body of the request is made of.  The URL and
-- the retries are those that the configuration has when the event is sent.
-- trigger.sql says when this function is called.

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
