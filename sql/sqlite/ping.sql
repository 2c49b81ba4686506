-- Whether a commit is possible: takes the write lock and writes a page.

UPDATE submission_schema SET version = version;
