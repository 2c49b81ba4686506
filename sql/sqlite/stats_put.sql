-- Replaces the leader's statistics, in a fenced transaction.

INSERT INTO submission_stats (lease_name, lease_epoch, at, stats)
VALUES (:lease_name, :lease_epoch, :now, :stats)
ON CONFLICT (lease_name) DO UPDATE
SET lease_epoch = excluded.lease_epoch,
    at = excluded.at,
    stats = excluded.stats;
