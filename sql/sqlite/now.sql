-- Reads SQLite's clock, whose resolution is a millisecond.

SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000;
