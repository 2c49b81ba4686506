-- Shows what an operator may want to know.  Run it as the owner, or as any user who may
-- read the tables.  It changes nothing.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

-- Who leads, and for how much longer.

SELECT lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at,
       CASE WHEN expires_at > SYSUTCDATETIME() THEN 1 ELSE 0 END AS held,
       DATEDIFF_BIG(millisecond, SYSUTCDATETIME(), expires_at) AS remaining_ms
FROM submission.submission_manager_leases
WHERE lease_epoch > 0
ORDER BY lease_name;

-- The instances.

SELECT lease_name, holder_id, role, version, started_at, heartbeat_at,
       CASE WHEN expires_at > SYSUTCDATETIME() THEN 1 ELSE 0 END AS alive
FROM submission.submission_manager_candidates
ORDER BY lease_name, started_at;

-- How many intents wait, how many of them are due, and how late the oldest is.

SELECT lease_name, submission_target, COUNT(*) AS waiting,
       SUM(CASE WHEN next_attempt_at <= SYSUTCDATETIME() THEN 1 ELSE 0 END)
       AS due,
       DATEDIFF_BIG(second, MIN(next_attempt_at), SYSUTCDATETIME()) AS lag_seconds
FROM submission.submission_intents
WHERE next_attempt_at IS NOT NULL
GROUP BY lease_name, submission_target
ORDER BY lease_name, lag_seconds DESC;

-- What is in flight.  An attempt is in doubt if it was begun under an earlier epoch.

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

-- What is stuck: pending without an attempt to come or in flight, which has never been
-- seen so far, or in flight for longer than an hour.  Only the pending intents of each
-- target are read, not its history.

DECLARE @lease varchar(64), @target nvarchar(256);

DECLARE @places TABLE (
    lease_name varchar(64) COLLATE Latin1_General_BIN2 NOT NULL,
    target     nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL,
    PRIMARY KEY (lease_name, target)
);

SET @lease = (SELECT MIN(lease_name) FROM submission.submission_intents);

WHILE @lease IS NOT NULL
BEGIN
    SET @target = (SELECT MIN(submission_target)
                   FROM submission.submission_intents
                   WHERE lease_name = @lease);

    WHILE @target IS NOT NULL
    BEGIN
        INSERT INTO @places (lease_name, target)
        VALUES (@lease, @target);

        SET @target = (SELECT MIN(submission_target)
                       FROM submission.submission_intents
                       WHERE lease_name = @lease
                             AND submission_target > @target);
    END;

    SET @lease = (SELECT MIN(lease_name) FROM submission.submission_intents
                  WHERE lease_name > @lease);
END;

SELECT TOP (100) s.lease_name, s.intent_id, s.submission_target, s.attempt_count,
       s.inflight_holder, s.inflight_epoch, s.inflight_at, s.last_modified_at
FROM (
         SELECT i.lease_name, i.intent_id, i.submission_target, i.attempt_count,
                i.inflight_holder, i.inflight_epoch, i.inflight_at,
                i.last_modified_at
         FROM submission.submission_intents AS i
         WHERE i.inflight_epoch IS NOT NULL
               AND i.inflight_at < DATEADD(hour, -1, SYSUTCDATETIME())
         UNION ALL
         SELECT i.lease_name, i.intent_id, i.submission_target, i.attempt_count,
                i.inflight_holder, i.inflight_epoch, i.inflight_at,
                i.last_modified_at
         FROM @places AS p
              INNER LOOP JOIN submission.submission_intents AS i
                              WITH (INDEX (submission_intents_list))
              ON i.lease_name = p.lease_name AND i.submission_target = p.target
                 AND i.status = 'pending'
         WHERE i.next_attempt_at IS NULL AND i.inflight_epoch IS NULL
     ) AS s
ORDER BY s.last_modified_at;
GO
