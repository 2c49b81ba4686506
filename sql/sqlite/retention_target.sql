-- Reads the next target that has intents, in the order of names.

SELECT submission_target
FROM submission_intents INDEXED BY submission_intents_list
WHERE lease_name = :lease_name AND submission_target > :after
ORDER BY submission_target
LIMIT 1;
