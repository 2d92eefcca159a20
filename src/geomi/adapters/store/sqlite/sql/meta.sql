-- name: get
-- One fact about the store.
SELECT value FROM meta WHERE key = ?;

-- name: put
-- Write one fact about the store.
INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?);
