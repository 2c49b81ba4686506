-- Tells whether a transaction can commit: writes a row without changing it.

CREATE OR REPLACE FUNCTION submission.submission_ping()
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    UPDATE submission_schema SET version = version;

    RETURN QUERY SELECT submission_us(submission_now());
END
$$;
