-- name: last
-- The number of a job's last event; 0 before its first.
SELECT COALESCE(MAX(n), 0) FROM journal WHERE job = %(job)s;

-- name: add
-- Write an event down.
INSERT INTO journal (job, n, kind, body, at_s, is_told)
VALUES (%(job)s, %(n)s, %(kind)s, %(body)s, %(at_s)s, %(is_told)s);

-- name: read
-- A job's events after one.
SELECT jobs.tenant, jobs.id, n, kind, body, at_s
FROM jobs
JOIN journal ON journal.job = jobs.number
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s AND n > %(after)s
ORDER BY n
LIMIT %(many)s;

-- name: untold
-- Events that nobody was told of, oldest first.
SELECT jobs.tenant, jobs.id, n, kind, body, at_s
FROM journal
JOIN jobs ON jobs.number = journal.job
WHERE NOT is_told
ORDER BY journal.number
LIMIT %(many)s;

-- name: tell
-- Somebody was told of an event.
UPDATE journal SET is_told = true
WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
    AND n = %(n)s AND NOT is_told;
