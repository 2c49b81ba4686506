-- Replaces the statistics of the leader.  Nothing is written if another session has
-- locked them: turns of the executor must not wait for statistics.

CREATE OR REPLACE FUNCTION submission.submission_stats_put(
    p_lease_name text, p_holder_id text, p_lease_epoch bigint, p_stats bytea
)
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    v_now := submission_fence(p_lease_name, p_holder_id, p_lease_epoch);

    RETURN QUERY SELECT submission_us(v_now);

    IF EXISTS (SELECT 1
               FROM submission_stats AS s
               WHERE s.lease_name = p_lease_name)
    THEN
        PERFORM 1
        FROM submission_stats AS s
        WHERE s.lease_name = p_lease_name
        FOR UPDATE SKIP LOCKED;

        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;

    INSERT INTO submission_stats (lease_name, lease_epoch, at, stats)
    VALUES (p_lease_name, p_lease_epoch, v_now,
            convert_from(p_stats, 'UTF8'))
    ON CONFLICT (lease_name) DO UPDATE
    SET lease_epoch = excluded.lease_epoch,
        at = excluded.at,
        stats = excluded.stats;
END
$$;
