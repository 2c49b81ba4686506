-- The intents of a document of ids; "key" is an id's place in it.

SELECT r.key, i.intent_id, i.submission_target, i.status, i.created_at,
       i.attempt_count, i.next_attempt_at, i.completed_at,
       i.final_outcome_reason, i.exhausted_reason, i.payload_hash,
       i.not_before, i.inflight_epoch IS NOT NULL, i.last_error, i.replay_of,
       i.stripped_at IS NOT NULL, i.traceparent
FROM json_each(:doc) AS r
     CROSS JOIN submission_intents AS i
     ON i.lease_name = :lease_name AND i.intent_id = r.value;
