-- Submits an intent in a transaction of the application.  Applications call this
-- function with the role submission_client_<database>.  The row becomes an intent
-- when the transaction has committed and the leader has read it; if POST would
-- refuse it, it is in submission_inbox_refused then.
--
--     SELECT submission.submit('order-4711', 'sms.realtime', '{"to":"+15550100"}');
--
-- p_payload: JSON, or empty; its bytes are kept as they are.
-- p_not_before: the first attempt does not begin before that time.
-- p_lease_name: the lease of the manager, if it is not the default one.
-- p_traceparent, p_tracestate: the context of a trace; an invalid one is dropped.

CREATE OR REPLACE FUNCTION submission.submit(
    p_id text, p_target text, p_payload text,
    p_not_before timestamptz DEFAULT NULL,
    p_lease_name text DEFAULT 'submission-manager-executor',
    p_traceparent text DEFAULT NULL, p_tracestate text DEFAULT NULL
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    INSERT INTO submission_inbox (lease_name, intent_id, submission_target,
                                  payload, not_before, traceparent,
                                  tracestate)
    VALUES (p_lease_name, p_id, p_target, convert_to(p_payload, 'UTF8'),
            p_not_before, p_traceparent, p_tracestate)
$$;


-- The same for jsonb: the payload is the text that PostgreSQL makes of it.

CREATE OR REPLACE FUNCTION submission.submit(
    p_id text, p_target text, p_payload jsonb,
    p_not_before timestamptz DEFAULT NULL,
    p_lease_name text DEFAULT 'submission-manager-executor',
    p_traceparent text DEFAULT NULL, p_tracestate text DEFAULT NULL
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
    SELECT submission.submit(p_id, p_target, p_payload::text, p_not_before,
                             p_lease_name, p_traceparent, p_tracestate)
$$;
