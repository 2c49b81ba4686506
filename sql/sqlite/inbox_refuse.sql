-- Keeps a row of the inbox together with the reason why it did not become an intent.  A
-- payload that is too large is cut if it is text.  A blob would have to be read in
-- full, so it is dropped.

INSERT INTO submission_inbox_refused (
    lease_name, refused_at, seq, intent_id, submission_target, payload, not_before,
    traceparent, tracestate, created_at, reason, detail
)
SELECT lease_name, :now, seq, intent_id, submission_target,
       CASE WHEN typeof(payload) <> 'blob' THEN substr(payload, 1, :max_payload)
            WHEN length(payload) <= :max_payload THEN payload
            ELSE x'' END,
       not_before, traceparent, tracestate, created_at, :reason, :detail
FROM submission_inbox
WHERE seq = :seq AND lease_name = :lease_name;
