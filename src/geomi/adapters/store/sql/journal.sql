-- name: last
-- The number of a job's last event; 0 before its first.
SELECT COALESCE(MAX(n), 0) FROM journal WHERE job = :job;

-- name: add
-- Write an event down.
INSERT INTO journal (job, n, kind, body, at_s, is_told)
VALUES (:job, :n, :kind, :body, :at_s, :is_told);

-- name: read
-- A job's events after one.
SELECT :tenant, :id, n, kind, body, at_s
FROM journal
WHERE job = (SELECT number FROM jobs WHERE id = :id AND tenant = :tenant) AND n > :after
ORDER BY n
LIMIT :many;

-- name: untold
-- Events that nobody was told of, oldest first.
SELECT (SELECT tenant FROM jobs WHERE number = journal.job),
       (SELECT id FROM jobs WHERE number = journal.job), n, kind, body, at_s
FROM journal
WHERE NOT is_told
ORDER BY journal.number
LIMIT :many;

-- name: tell
-- Somebody was told of an event.
UPDATE journal SET is_told = true
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND n = :n AND NOT is_told;
