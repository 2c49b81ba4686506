-- Reads the inbox, from seq :from on.  Of a payload that is too large, only the
-- size is read.

SELECT :now AS now, seq, substr(intent_id, 1, 1024) AS intent_id,
       substr(submission_target, 1, 1024) AS submission_target,
       CASE typeof(not_before) WHEN 'null' THEN NULL
                               WHEN 'integer' THEN not_before
                               ELSE -9223372036854775808 END AS not_before,
       CASE typeof(payload) WHEN 'blob' THEN length(payload)
                            ELSE length(CAST(payload AS BLOB)) END AS size,
       substr(traceparent, 1, 1024) AS traceparent,
       substr(tracestate, 1, 1024) AS tracestate,
       CASE WHEN CASE typeof(payload) WHEN 'blob' THEN length(payload)
                                      ELSE length(CAST(payload AS BLOB)) END
                 <= :max_payload
            THEN payload END AS payload
FROM submission_inbox
WHERE lease_name = :lease_name AND seq >= :from
ORDER BY seq;
