-- From version 1 to 2: what is added to tables that are there.  New tables, all
-- indexes and the version are made by schema.sql after it, in the same transaction.

ALTER TABLE submission_intents ADD COLUMN label TEXT;
