-- The leader's numbers; the document is NULL unless its time is another one than
-- :seen.

SELECT lease_epoch, at, CASE WHEN at <> :seen THEN stats END
FROM submission_stats
WHERE lease_name = :lease_name;
