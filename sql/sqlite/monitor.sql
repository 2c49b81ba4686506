-- Shows the state of the store to an operator:
--
--     sqlite3 -readonly -box data/submission.db < sql/sqlite/monitor.sql
--
-- It changes nothing.  Times are UTC, and durations are seconds.

-- The leader, and the time for which its lease still lasts.

SELECT lease_name, holder_id, lease_epoch,
       strftime('%Y-%m-%dT%H:%M:%fZ', acquired_at / 1e6, 'unixepoch')
           AS acquired_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', renewed_at / 1e6, 'unixepoch')
           AS renewed_at,
       expires_at > t.now AS held,
       round((expires_at - t.now) / 1e6, 3) AS remaining
FROM submission_manager_leases,
     (SELECT (julianday('now') - 2440587.5) * 86400000000.0 AS now) AS t
ORDER BY lease_name;

-- The instances.

SELECT lease_name, holder_id, role, version,
       strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1e6, 'unixepoch')
           AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', heartbeat_at / 1e6, 'unixepoch')
           AS heartbeat_at,
       expires_at > t.now AS alive
FROM submission_manager_candidates,
     (SELECT (julianday('now') - 2440587.5) * 86400000000.0 AS now) AS t
ORDER BY lease_name, submission_manager_candidates.started_at;

-- How many intents wait, how many of these are due, and how late the oldest is.

SELECT lease_name, submission_target, count(*) AS waiting,
       sum(next_attempt_at <= t.now) AS due,
       round(max((t.now - min(next_attempt_at)) / 1e6, 0), 3) AS lag
FROM submission_intents,
     (SELECT (julianday('now') - 2440587.5) * 86400000000.0 AS now) AS t
WHERE next_attempt_at IS NOT NULL
GROUP BY lease_name, submission_target
ORDER BY lease_name, lag DESC;

-- The attempts in flight.  Those that began under an earlier epoch are in doubt.

SELECT i.lease_name, i.inflight_holder, i.inflight_epoch, count(*) AS in_flight,
       i.inflight_epoch < l.lease_epoch AS in_doubt,
       round((t.now - min(i.inflight_at)) / 1e6, 3) AS oldest
FROM submission_intents AS i
     LEFT JOIN submission_manager_leases AS l ON l.lease_name = i.lease_name,
     (SELECT (julianday('now') - 2440587.5) * 86400000000.0 AS now) AS t
WHERE i.inflight_epoch IS NOT NULL
GROUP BY i.lease_name, i.inflight_holder, i.inflight_epoch, l.lease_epoch
ORDER BY i.lease_name, i.inflight_epoch;

-- Intents that are stuck: either pending without an attempt in flight or to come, which
-- should never happen, or in flight for more than an hour.

SELECT lease_name, intent_id, submission_target, attempt_count, inflight_holder,
       inflight_epoch,
       strftime('%Y-%m-%dT%H:%M:%fZ', inflight_at / 1e6, 'unixepoch')
           AS inflight_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_modified_at / 1e6, 'unixepoch')
           AS last_modified_at
FROM submission_intents,
     (SELECT (julianday('now') - 2440587.5) * 86400000000.0 AS now) AS t
WHERE (inflight_epoch IS NOT NULL AND inflight_at < t.now - 3600e6)
      OR (status = 'pending' AND next_attempt_at IS NULL
          AND inflight_epoch IS NULL)
ORDER BY submission_intents.last_modified_at
LIMIT 100;
