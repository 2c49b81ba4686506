-- Copies an intent that has ended under another id, with another contract, or its own
-- if :contract is NULL, and likewise with a trace.  It changes nothing if the id
-- exists, or if the payload is gone.

INSERT INTO submission_intents (
    lease_name, intent_id, payload_hash, payload, submission_target,
    gateway_type, gateway_url, policy, max_acceptance_seconds, max_attempts,
    terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
    retry_jitter_pct, retry_schedule, notify, contract_version, status,
    attempt_count, created_at, last_modified_at, next_attempt_at, replay_of, event_of, traceparent,
    tracestate
)
SELECT i.lease_name, :new_id, i.payload_hash, i.payload, i.submission_target,
       iif(:contract IS NULL, i.gateway_type, :contract ->> '$.type'),
       iif(:contract IS NULL, i.gateway_url, :contract ->> '$.url'),
       iif(:contract IS NULL, i.policy, :contract ->> '$.policy'),
       iif(:contract IS NULL, i.max_acceptance_seconds,
           :contract ->> '$.seconds'),
       iif(:contract IS NULL, i.max_attempts, :contract ->> '$.attempts'),
       iif(:contract IS NULL, i.terminal_outcomes, :contract ->> '$.outcomes'),
       iif(:contract IS NULL, i.retry_delay_ms, :contract ->> '$.delay'),
       iif(:contract IS NULL, i.retry_max_ms, :contract ->> '$.max'),
       iif(:contract IS NULL, i.retry_backoff_pct, :contract ->> '$.backoff'),
       iif(:contract IS NULL, i.retry_jitter_pct, :contract ->> '$.jitter'),
       iif(:contract IS NULL, i.retry_schedule, :contract ->> '$.schedule'),
       iif(:contract IS NULL, i.notify, :contract ->> '$.notify'),
       iif(:contract IS NULL, i.contract_version, NULL),
       'pending', 0, :now, :now, :now, i.intent_id, i.event_of,
       coalesce(:traceparent, i.traceparent),
       iif(:traceparent IS NULL, i.tracestate, :tracestate)
FROM submission_intents AS i
WHERE i.lease_name = :lease_name AND i.intent_id = :intent_id
      AND i.status <> 'pending' AND i.stripped_at IS NULL
ON CONFLICT (lease_name, intent_id) DO NOTHING;
