-- Whether a row of the page is still there.

SELECT 1
FROM submission_inbox
WHERE seq = :seq AND lease_name = :lease_name;
