-- Says whether a row of the page is still in the inbox.

SELECT 1
FROM submission_inbox
WHERE seq = :seq AND lease_name = :lease_name;
