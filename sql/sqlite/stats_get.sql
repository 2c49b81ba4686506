-- Reads the leader's statistics.  The document is NULL if its time is :seen.

SELECT lease_epoch, at, CASE WHEN at <> :seen THEN stats END
FROM submission_stats
WHERE lease_name = :lease_name;
