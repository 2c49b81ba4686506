-- What an operator may want to know.  Run as the owner, or any user who may read
-- the tables; changes nothing.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- who leads, and for how long still

SELECT lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at,
       CASE WHEN expires_at > SYSUTCDATETIME() THEN 1 ELSE 0 END AS held,
       DATEDIFF_BIG(millisecond, SYSUTCDATETIME(), expires_at) AS remaining_ms
FROM submission.submission_manager_leases
WHERE lease_epoch > 0
ORDER BY lease_name;

-- the instances

SELECT lease_name, holder_id, role, version, started_at, heartbeat_at,
       CASE WHEN expires_at > SYSUTCDATETIME() THEN 1 ELSE 0 END AS alive
FROM submission.submission_manager_candidates
ORDER BY lease_name, started_at;

-- how many wait, how many of them are due, and how late the oldest is

SELECT lease_name, submission_target, COUNT(*) AS waiting,
       SUM(CASE WHEN next_attempt_at <= SYSUTCDATETIME() THEN 1 ELSE 0 END)
       AS due,
       DATEDIFF_BIG(second, MIN(next_attempt_at), SYSUTCDATETIME()) AS lag_seconds
FROM submission.submission_intents
WHERE next_attempt_at IS NOT NULL
GROUP BY lease_name, submission_target
ORDER BY lease_name, lag_seconds DESC;

-- in flight; in doubt is what was begun under an epoch that is gone

SELECT i.lease_name, i.inflight_holder, i.inflight_epoch, COUNT(*) AS in_flight,
       CASE WHEN i.inflight_epoch < l.lease_epoch THEN 1 ELSE 0 END
       AS in_doubt,
       DATEDIFF_BIG(second, MIN(i.inflight_at), SYSUTCDATETIME()) AS oldest_seconds
FROM submission.submission_intents AS i
     LEFT JOIN submission.submission_manager_leases AS l
     ON l.lease_name = i.lease_name
WHERE i.inflight_epoch IS NOT NULL
GROUP BY i.lease_name, i.inflight_holder, i.inflight_epoch, l.lease_epoch
ORDER BY i.lease_name, i.inflight_epoch;

-- stuck: pending, with nothing to come and nothing in flight (never seen so
-- far), or in flight for longer than an hour

SELECT TOP (100) lease_name, intent_id, submission_target, attempt_count,
       inflight_holder, inflight_epoch, inflight_at, last_modified_at
FROM submission.submission_intents
WHERE (inflight_epoch IS NOT NULL
       AND inflight_at < DATEADD(hour, -1, SYSUTCDATETIME()))
      OR (status = 'pending' AND next_attempt_at IS NULL
          AND inflight_epoch IS NULL)
ORDER BY last_modified_at;
