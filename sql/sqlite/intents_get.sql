-- Reads the intents whose ids are in a JSON array; "key" is the place of an id in it.

SELECT r.key AS n, i.*
FROM json_each(:doc) AS r
     CROSS JOIN submission_intents_shown AS i
     ON i.lease_name = :lease_name AND i.intent_id = r.value;
