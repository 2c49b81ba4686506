-- Reads a page of ids from :low on and before :high, in ascending or descending order.
-- :skip is the last id of the previous page, or empty.

SELECT 0, u.intent_id
FROM (
         SELECT i.intent_id
         FROM submission_intents AS i
         WHERE :up = 1 AND i.lease_name = :lease_name
               AND i.intent_id >= :low AND i.intent_id < :high
               AND i.intent_id <> :skip
         ORDER BY i.intent_id
         LIMIT :limit
     ) AS u
UNION ALL
SELECT 0, d.intent_id
FROM (
         SELECT i.intent_id
         FROM submission_intents AS i
         WHERE :up = 0 AND i.lease_name = :lease_name
               AND i.intent_id >= :low AND i.intent_id < :high
         ORDER BY i.intent_id DESC
         LIMIT :limit
     ) AS d;
