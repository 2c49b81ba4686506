-- The last_error of an intent that the leader leaves alone, as its contract is of a
-- later version.

CREATE OR REPLACE FUNCTION submission.submission_newer(p_version integer)
RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT 'not sent: its contract is of version ' || p_version
           || ', which the leader does not know'
$$;


-- A turn of the executor, in one transaction: records attempts that have ended, and
-- begins attempts that are due.  Either document may be [].  The first row of the
-- answer has only the time; in the others, o_n is the place in a document.
--
-- p_ended: [{"n","id","number","epoch","holder","started","finished","outcome",
-- "reason","error","http","answer","span","status","exhausted","delay","held"}].
-- If this attempt of the intent is in flight, it is added to the attempts, and the
-- intent gets its new status.  An attempt without an outcome was not sent: its
-- intent is due when it was due before or, with a delay, that much later than now.
-- An attempt that is held stays in flight, and only its error is written.  Text
-- that is too long is cut off.  o_outcome is 4 if the attempt was recorded, and
-- o_due_at is when the next one is due; an attempt that is not in the answer was
-- not recorded.
--
-- p_due: ["id"].  Intents that are pending and due become in flight.  o_outcome is
-- 1 if the attempt has begun; 2 if it is too early; 3 if the deadline has passed,
-- and the intent is exhausted now; 0 if the contract is of a later version than
-- p_version, which is the version of the module that calls: then the intent is left
-- to a newer module, and last_error says so from now on; and 5 if last_error said
-- so before.  An intent that is not in the answer has no attempt to come.
-- o_created_at is the time from which the deadline counts, which is not_before if
-- that is later than created_at.
--
-- An intent that another session has locked is not waited for, as all other intents
-- would wait, too: the answer is that it is a second too early.

CREATE OR REPLACE FUNCTION submission.submission_attempts_turn(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint,
    p_ended text, p_due text, p_version bigint
)
RETURNS SETOF submission.submission_row_turn
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
    v_row  submission_row_turn;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);

    v_row.o_now := submission_us(v_now);
    RETURN NEXT v_row;

    IF p_ended <> '[]' THEN
        RETURN QUERY
        WITH sent AS MATERIALIZED (
            SELECT *
            FROM jsonb_to_recordset(p_ended::jsonb) AS r (
                n bigint, id text, number bigint, epoch bigint, holder text,
                started bigint, finished bigint, outcome text, reason text,
                error text, http integer, answer text, status text,
                exhausted text, delay bigint, span text, held bigint
            )
        ), found AS MATERIALIZED (

            -- If an intent is in the document twice, the first one counts.

            SELECT DISTINCT ON (i.intent_id) i.lease_name, i.intent_id, r.*
            FROM sent AS r
                 CROSS JOIN LATERAL (
                     SELECT s.*
                     FROM submission_intents AS s
                     WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                     LIMIT 1
                 ) AS i
            WHERE i.status = 'pending' AND i.inflight_epoch = r.epoch
                  AND i.inflight_holder = r.holder
                  AND i.attempt_count = r.number - 1
            ORDER BY i.intent_id, r.n
        ), moved AS (
            UPDATE submission_intents AS i
            SET status = CASE WHEN r.outcome IS NULL THEN i.status
                              ELSE r.status END,
                final_outcome_status = CASE WHEN r.outcome IS NULL
                                            THEN i.final_outcome_status
                                            ELSE r.outcome END,
                final_outcome_reason = CASE WHEN r.outcome IS NOT NULL
                                            THEN left(r.reason, 200)
                                            WHEN r.error IS NULL
                                            THEN i.final_outcome_reason
                                            WHEN r.held IS NOT NULL
                                            THEN 'unknown'
                                            ELSE 'unsent' END,
                exhausted_reason = r.exhausted,
                last_error = CASE WHEN r.outcome IS NULL
                                  THEN coalesce(left(r.error, 400),
                                                i.last_error)
                                  ELSE left(r.error, 400) END,
                attempt_count = i.attempt_count + CASE WHEN r.outcome IS NULL
                                                       THEN 0 ELSE 1 END,
                completed_at = CASE WHEN r.outcome IS NOT NULL
                                         AND r.status <> 'pending'
                                    THEN v_now END,
                last_modified_at = v_now,
                next_attempt_at = CASE WHEN r.held IS NOT NULL THEN NULL
                                       WHEN r.outcome IS NULL
                                            AND r.delay IS NULL
                                       THEN i.inflight_at
                                       WHEN r.outcome IS NULL
                                            OR r.status = 'pending'
                                       THEN v_now + r.delay
                                                    * interval '1 millisecond'
                                       END,
                inflight_epoch = CASE WHEN r.held IS NOT NULL
                                      THEN i.inflight_epoch END,
                inflight_holder = CASE WHEN r.held IS NOT NULL
                                       THEN i.inflight_holder END,
                inflight_at = CASE WHEN r.held IS NOT NULL
                                   THEN i.inflight_at END
            FROM found AS r

            -- A session of somebody else may change the row at this moment, as
            -- one that moves intents to another gateway does.  Then this one
            -- waits, and the conditions are evaluated again on the new row,
            -- whose "ctid" is another.  The lease is that of "found", so that
            -- no plan reads all rows of a lease, whatever is known of them.

            WHERE i.lease_name = r.lease_name AND i.intent_id = r.intent_id
                  AND i.attempt_count = r.number - 1
                  AND i.inflight_epoch IS NOT DISTINCT FROM r.epoch
            RETURNING r.*, i.next_attempt_at
        ), appended AS (
            INSERT INTO submission_attempts (
                lease_name, intent_id, attempt_number, lease_epoch, holder_id,
                started_at, finished_at, outcome_status, outcome_reason, error,
                http_status, answer, span_id
            )
            SELECT p_lease_name, r.intent_id, r.number, r.epoch, r.holder,
                   submission_at(r.started), submission_at(r.finished),
                   r.outcome, left(r.reason, 200), left(r.error, 1000),
                   r.http, left(r.answer, 500), r.span
            FROM moved AS r
            WHERE r.outcome IS NOT NULL
        )
        SELECT NULL::bigint, m.n, 4::bigint, submission_us(m.next_attempt_at),
               NULL::bigint, NULL::bigint, c.*, NULL, NULL, NULL::bytea
        FROM moved AS m
             LEFT JOIN submission_contract(NULL) AS c ON false;
    END IF;

    IF p_due <> '[]' THEN

        -- "found" has the intents as they were, and what becomes of them.

        RETURN QUERY
        WITH found AS MATERIALIZED (
            SELECT r.n, i.ctid AS place,
                   CASE WHEN i.next_attempt_at <= v_now AND l.free IS NULL
                        THEN v_now + interval '1 second'
                        ELSE i.next_attempt_at END AS due_at,
                   CASE WHEN i.next_attempt_at > v_now OR l.free IS NULL
                        THEN 2
                        WHEN i.contract_version > p_version
                        THEN CASE WHEN i.last_error = submission_newer(
                                                          i.contract_version)
                                  THEN 5 ELSE 0 END

                        -- No value that a row may have overflows here.

                        WHEN i.policy = 'deadline'
                             AND i.max_acceptance_seconds > 0
                             AND extract(epoch FROM v_now
                                         - greatest(i.created_at, i.not_before))
                                 >= i.max_acceptance_seconds
                        THEN 3
                        ELSE 1 END AS outcome
            FROM submission_asked(p_due) AS r
                 CROSS JOIN LATERAL (
                     SELECT s.ctid, s.*
                     FROM submission_intents AS s
                     WHERE s.lease_name = p_lease_name AND s.intent_id = r.id
                     LIMIT 1
                 ) AS i
                 LEFT JOIN LATERAL (
                     SELECT true AS free
                     FROM submission_intents AS s
                     WHERE s.ctid = i.ctid AND i.next_attempt_at <= v_now
                     FOR UPDATE SKIP LOCKED
                 ) AS l
                 ON true
            WHERE i.status = 'pending' AND i.next_attempt_at IS NOT NULL
                  AND i.inflight_epoch IS NULL
        ), changed AS (
            UPDATE submission_intents AS i
            SET status = CASE f.outcome WHEN 3 THEN 'exhausted'
                                        ELSE i.status END,
                exhausted_reason = CASE f.outcome WHEN 3
                                   THEN 'deadline_exceeded' END,
                completed_at = CASE f.outcome WHEN 3 THEN v_now END,
                inflight_epoch = CASE f.outcome WHEN 1 THEN p_lease_epoch END,
                inflight_holder = CASE f.outcome WHEN 1 THEN p_holder_id END,
                inflight_at = CASE f.outcome WHEN 1 THEN v_now END,
                next_attempt_at = NULL,
                last_modified_at = v_now
            FROM found AS f
            WHERE i.ctid = f.place AND f.outcome IN (1, 3)

                  -- The intent may have been canceled since it was found.
                  -- PostgreSQL evaluates the conditions again if a row has
                  -- changed, but some releases do not compare "ctid" then.

                  AND i.status = 'pending' AND i.inflight_epoch IS NULL
            RETURNING f.n
        ), noted AS (
            UPDATE submission_intents AS i
            SET last_error = submission_newer(i.contract_version),
                final_outcome_reason = 'unsent'
            FROM found AS f
            WHERE i.ctid = f.place AND f.outcome = 0 AND i.status = 'pending'
        )

        -- This statement sees the rows as they were before the changes, which
        -- do not touch the columns that are shown.

        SELECT NULL::bigint, f.n, f.outcome::bigint, submission_us(f.due_at),
               submission_us(greatest(i.created_at, i.not_before)),
               i.attempt_count + 1, c.*, i.traceparent::text,
               i.tracestate::text, CASE f.outcome WHEN 1 THEN i.payload END
        FROM found AS f
             JOIN submission_intents AS i ON i.ctid = f.place
             CROSS JOIN LATERAL submission_contract(i) AS c
        WHERE f.outcome IN (0, 2, 5)
              OR f.n IN (SELECT d.n FROM changed AS d);
    END IF;
END
$$;
