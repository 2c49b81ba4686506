-- Removes an instance that ends.

CREATE OR REPLACE FUNCTION submission.submission_candidate_remove(
    p_lease_name text, p_holder_id text
)
RETURNS TABLE (o_now bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = submission, pg_temp
AS $$
BEGIN
    DELETE FROM submission_manager_candidates
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id;

    DELETE FROM submission_manager_target_names
    WHERE lease_name = p_lease_name AND holder_id = p_holder_id;

    RETURN QUERY SELECT submission_us(submission_now());
END
$$;
