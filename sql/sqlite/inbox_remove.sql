-- Removes a row of the inbox that has become an intent or a refusal.

DELETE FROM submission_inbox
WHERE seq = :seq AND lease_name = :lease_name;
