-- Removes a row of the inbox that is an intent now, or a refusal.

DELETE FROM submission_inbox
WHERE seq = :seq AND lease_name = :lease_name;
