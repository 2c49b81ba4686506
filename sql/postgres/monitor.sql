-- Shows an operator the state of the managers, and changes nothing.  Run it as the
-- owner, or with any role that may read the tables.

SET search_path = submission, pg_temp;

-- Which instance leads, and how long its lease lasts.

SELECT lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at,
       expires_at > clock_timestamp() AS held,
       expires_at - clock_timestamp() AS remaining
FROM submission_manager_leases
ORDER BY lease_name;

-- The instances.

SELECT lease_name, holder_id, role, version, started_at, heartbeat_at,
       expires_at > clock_timestamp() AS alive
FROM submission_manager_candidates
ORDER BY lease_name, started_at;

-- How many intents wait, how many of them are due, and how late the oldest is.

SELECT lease_name, submission_target, count(*) AS waiting,
       count(*) FILTER (WHERE next_attempt_at <= clock_timestamp()) AS due,
       greatest(clock_timestamp() - min(next_attempt_at), interval '0') AS lag
FROM submission_intents
WHERE next_attempt_at IS NOT NULL
GROUP BY lease_name, submission_target
ORDER BY lease_name, lag DESC;

-- Attempts in flight.  Those that were begun under an earlier epoch are in doubt.

SELECT i.lease_name, i.inflight_holder, i.inflight_epoch, count(*) AS in_flight,
       i.inflight_epoch < l.lease_epoch AS in_doubt,
       clock_timestamp() - min(i.inflight_at) AS oldest
FROM submission_intents AS i
     LEFT JOIN submission_manager_leases AS l ON l.lease_name = i.lease_name
WHERE i.inflight_epoch IS NOT NULL
GROUP BY i.lease_name, i.inflight_holder, i.inflight_epoch, l.lease_epoch
ORDER BY i.lease_name, i.inflight_epoch;

-- Intents that are stuck: in flight for longer than an hour, or pending without an
-- attempt to come or in flight, which has never been seen.

SELECT lease_name, intent_id, submission_target, attempt_count, inflight_holder,
       inflight_epoch, inflight_at, last_modified_at
FROM submission_intents
WHERE (inflight_epoch IS NOT NULL
       AND inflight_at < clock_timestamp() - interval '1 hour')
      OR (status = 'pending' AND next_attempt_at IS NULL
          AND inflight_epoch IS NULL)
ORDER BY last_modified_at
LIMIT 100;
