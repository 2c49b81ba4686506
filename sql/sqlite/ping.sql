-- Proves that a commit is possible, by taking the write lock and writing a page.

PRAGMA user_version = 1;
