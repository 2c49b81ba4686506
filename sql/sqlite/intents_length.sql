-- Reads the lengths of the payloads of intents whose ids are in a JSON array; "key" is
-- the place of an id in it.

SELECT r.key, length(i.payload)
FROM json_each(:doc) AS r
     CROSS JOIN submission_intents AS i
     ON i.lease_name = :lease_name AND i.intent_id = r.value;
