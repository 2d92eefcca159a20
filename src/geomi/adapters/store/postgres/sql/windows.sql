-- name: lock
-- Let one process at a time count requests. 5: the class of this lock.
SELECT pg_advisory_xact_lock(5, 0);

-- name: counts
-- The requests permitted in each minute of a window, the newest first.
SELECT minute, count FROM windows WHERE minute >= %(oldest)s ORDER BY minute DESC;

-- name: take
-- Count one more request.
INSERT INTO windows (minute, count) VALUES (%(minute)s, 1)
ON CONFLICT (minute) DO UPDATE SET count = windows.count + 1;

-- name: forget
-- Forget minutes that reach into no window any more.
DELETE FROM windows WHERE minute < %(oldest)s;
