-- For applications, with the role submission_client_<database>: an intent, in a
-- transaction of their own.  It is one as soon as that commits and the leader has looked; whatever
-- POST would refuse is in submission_inbox_refused then.
--
--     SELECT submission.submit('order-4711', 'sms.realtime', '{"to":"+15550100"}');
--
-- p_payload: JSON, or empty; its bytes are kept as they are.
-- p_not_before: the first attempt is not before that.
-- p_lease_name: that of the manager, if it is not the default.
-- p_traceparent, p_tracestate: the context of a trace; an invalid one is dropped.

DROP FUNCTION IF EXISTS submission.submit(text, text, text, timestamptz, text);
DROP FUNCTION IF EXISTS submission.submit(text, text, jsonb, timestamptz, text);

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


-- The same with jsonb: PostgreSQL writes its text.

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
