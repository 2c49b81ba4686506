-- Reads the state that an operator has set for a target, and whether any intent of the
-- target is pending.

SELECT t.submission_target IS NOT NULL, coalesce(t.state, 'open'), t.since,
       t.reason, t.actor, EXISTS (
           SELECT 1
           FROM submission_intents AS i
           WHERE i.lease_name = :lease_name AND i.submission_target = :target
                 AND i.status = 'pending'
       )
FROM (SELECT 1) AS one
     LEFT JOIN submission_targets AS t
     ON t.lease_name = :lease_name AND t.submission_target = :target;
