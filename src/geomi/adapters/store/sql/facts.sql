-- name: get
-- One fact about the store.
SELECT value FROM meta WHERE key = :key;

-- name: put
-- Write one fact about the store.
INSERT INTO meta (key, value) VALUES (:key, :value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: lock
-- SQLite's writers stand in one line anyway.
SELECT 1;

-- name: greatest_end
-- The latest time at which any response is known to have ended.
SELECT COALESCE(MAX(last_end_s), 0.0) FROM hosts;

-- name: lease_owners
-- Who has not given back all of their hosts.
SELECT DISTINCT owner FROM hosts WHERE lease_until_s > 0 AND owner IS NOT NULL ORDER BY owner;
