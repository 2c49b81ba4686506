-- Proves that a commit is possible: takes the write lock and writes a page.

PRAGMA user_version = 1;
