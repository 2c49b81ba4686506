-- What is in the inbox, from the lowest seq on.  A payload that is too large is
-- not read; its size alone tells.

SELECT seq, substr(intent_id, 1, :text_max), substr(submission_target, 1, :text_max),
       not_before,
       CASE typeof(payload) WHEN 'blob' THEN length(payload)
                            ELSE length(CAST(payload AS BLOB)) END,
       CASE WHEN CASE typeof(payload) WHEN 'blob' THEN length(payload)
                                      ELSE length(CAST(payload AS BLOB)) END
                 <= :max_payload
            THEN payload END,
       substr(traceparent, 1, :text_max), substr(tracestate, 1, :text_max)
FROM submission_inbox
WHERE lease_name = :lease_name
ORDER BY seq;
