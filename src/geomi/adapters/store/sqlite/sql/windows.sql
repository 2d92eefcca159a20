-- name: counts
-- The requests to a domain, or of all, that were permitted in each minute; the newest first.
SELECT minute, count FROM windows WHERE domain = ? AND minute >= ? ORDER BY minute DESC;

-- name: take
-- Count one more request.
INSERT INTO windows (domain, minute, count) VALUES (?, ?, 1)
ON CONFLICT DO UPDATE SET count = count + 1;

-- name: forget
-- Forget minutes of any domain that reach into no window any more.
DELETE FROM windows WHERE minute < ?;
