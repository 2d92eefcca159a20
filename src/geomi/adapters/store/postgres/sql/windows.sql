-- name: lock
-- Let one process at a time count the requests to a domain. 5: the class of these locks.
SELECT pg_advisory_xact_lock(5, hashtext(CAST(%(domain)s AS text)));

-- name: counts
-- The requests to a domain, or of all, that were permitted in each minute; the newest first.
SELECT minute, count
FROM windows
WHERE domain = %(domain)s AND minute >= %(oldest)s
ORDER BY minute DESC;

-- name: take
-- Count one more request.
INSERT INTO windows (domain, minute, count) VALUES (%(domain)s, %(minute)s, 1)
ON CONFLICT (domain, minute) DO UPDATE SET count = windows.count + 1;

-- name: forget
-- Forget minutes of any domain that reach into no window any more; what another process forgets
-- at this moment is left to it.
DELETE FROM windows
WHERE (domain, minute) IN (
    SELECT domain, minute
    FROM windows
    WHERE minute < %(oldest)s
    LIMIT 1000
    FOR UPDATE SKIP LOCKED
);
