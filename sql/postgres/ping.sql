-- Tells whether a transaction can commit: writes a row without changing it.
--
-- p_trial: whether an intent can be written, too, which takes more room: one is, and is
-- taken back.

CREATE OR REPLACE FUNCTION submission.submission_ping(p_trial bigint DEFAULT 0)
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
DECLARE
    v_now  timestamptz;
BEGIN
    UPDATE submission_schema SET version = version;

    v_now := submission_now();

    IF p_trial <> 0 THEN
        BEGIN
            INSERT INTO submission_intents (
                lease_name, intent_id, submission_target, payload_hash,
                gateway_type, gateway_url, policy, terminal_outcomes,
                retry_delay_ms, retry_max_ms, retry_backoff_pct,
                retry_jitter_pct, status, attempt_count, created_at,
                last_modified_at, payload
            )
            VALUES (
                '', 'ping ' || pg_backend_pid(), '', '', '', '', '', '', 0, 0,
                0, 0, '', 0, v_now, v_now,
                convert_to(repeat(md5(v_now::text), 32), 'UTF8')
            );

            RAISE EXCEPTION 'taken back' USING ERRCODE = 'P7004';

        EXCEPTION
            WHEN SQLSTATE 'P7004' THEN
                NULL;
        END;
    END IF;

    RETURN QUERY SELECT submission_us(v_now);
END
$$;
