-- name: counts
-- The requests permitted in each minute of a window, the newest first.
SELECT minute, count FROM windows WHERE minute >= ? ORDER BY minute DESC;

-- name: take
-- Count one more request.
INSERT INTO windows (minute, count) VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1;

-- name: forget
-- Forget minutes that reach into no window any more.
DELETE FROM windows WHERE minute < ?;
