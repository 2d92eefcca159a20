-- name: terms
-- What a job's row says about settling its visits.
SELECT number, importance, root, pending,
       max_queued, max_queued_per_host, max_queued_per_pattern
FROM jobs
WHERE id = ? AND tenant = ?;

-- name: others
-- How many URLs of other jobs wait; those of a job that is over wait for nothing.
SELECT COALESCE(SUM(pending), 0)
FROM jobs
WHERE state NOT IN (/* job over */) AND number <> ?;

-- name: cash
-- What one URL holds.
SELECT cash FROM entries WHERE queue = ? AND url_hash = ?;

-- name: purses
-- What those of some URLs hold that wait.
SELECT seq, url_hash, cash, priority
FROM entries
WHERE queue = ? AND url_hash IN (/* hashes */) AND state = /* entry pending */;

-- name: spend
-- A page has given its cash away.
UPDATE entries SET cash = 0.0, priority = priority - ? WHERE queue = ? AND url_hash = ?;

-- name: give
-- A URL that waits was given something.
UPDATE entries SET cash = ?, priority = ? WHERE seq = ?;

-- name: to_root
-- The virtual root of a job has more, or less.
UPDATE jobs SET root = MAX(0.0, root + :more) WHERE number = :job;

-- name: lift
-- Put the URL of a queue that has waited longest before all others.
UPDATE entries SET priority = priority + :lift
WHERE seq = (
        SELECT seq FROM entries INDEXED BY entries_oldest
        WHERE queue = :queue AND state = /* entry pending */ AND cash IS NOT NULL AND due_s <= :now_s
        ORDER BY seq
        LIMIT 1
    )
    AND priority < :lift;

-- name: in_host
-- How many URLs of a job wait on a host.
SELECT COALESCE(SUM(pending), 0) FROM queues WHERE host = ? AND job = ?;

-- name: in_pattern
-- How many URLs of a pattern wait in a queue, counted no further than a limit.
SELECT COUNT(*) FROM (
    SELECT 1 FROM entries
    WHERE queue = (SELECT number FROM queues WHERE host = :host AND job = :job)
        AND pattern = :pattern AND state = /* entry pending */
    LIMIT :most
);
