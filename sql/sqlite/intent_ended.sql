-- Makes the events of an intent that has ended, in the transaction that ends it.  An
-- event is an intent of the webhook's own target; the body of the message is made from
-- its payload.  The URL and the retries are those of the configuration when it is
-- sent.  A trigger would cost every attempt, even if there is no webhook.

INSERT INTO submission_intents (
    lease_name, intent_id, submission_target, payload_hash, gateway_type,
    gateway_url, policy, max_attempts, terminal_outcomes, retry_delay_ms,
    retry_max_ms, retry_backoff_pct, retry_jitter_pct, status, attempt_count,
    created_at, last_modified_at, next_attempt_at, event_of,
    traceparent, tracestate, payload
)
SELECT i.lease_name,
       ' ' || substr(w.value, length(i.status) + 2) || ' '
       || lower(hex(randomblob(16))),
       'webhook ' || substr(w.value, length(i.status) + 2), '', 'webhook', '',
       'max_attempts', 1000000, '', 5000, 0, 100, 0, 'pending', 0,
       i.last_modified_at, i.last_modified_at, i.last_modified_at,
       i.intent_id, i.traceparent, i.tracestate,
       CAST(json_object('id', i.intent_id, 'target', i.submission_target,
                        'status', i.status, 'created', i.created_at,
                        'attempts', i.attempt_count,
                        'completed', i.completed_at,
                        'reason', i.final_outcome_reason,
                        'exhausted', i.exhausted_reason,
                        'before', i.not_before, 'error', i.last_error,
                        'replay', i.replay_of,
                        'trace', i.traceparent) AS BLOB)
FROM submission_intents AS i
     CROSS JOIN json_each('[' || replace(json_quote(i.notify), ' ', '","')
                          || ']') AS w
WHERE i.lease_name = :lease_name AND i.intent_id = :intent_id
      AND i.notify IS NOT NULL AND w.value LIKE i.status || ':%';
