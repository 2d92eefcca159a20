-- name: queue
-- The queue of one host and job, and how deep its URLs may lie.
SELECT number, deepest FROM queues WHERE host = ? AND job = ?;

-- name: new_queue
-- Open the queue of one host and job.
INSERT INTO queues (host, job, ready_s, region)
VALUES (?1, ?2, 0, (SELECT '?' FROM jobs WHERE number = ?2 AND regions <> ''));

-- name: novel
-- Which of these URLs are not there (1), or are farther away and may still come nearer (0).
WITH asked (place, queue, url_hash, depth) AS (VALUES /* asked */)
SELECT asked.place, entries.seq IS NULL
FROM asked
LEFT JOIN entries ON entries.queue = asked.queue AND entries.url_hash = asked.url_hash
WHERE entries.seq IS NULL
    OR entries.depth > asked.depth
    AND (
        entries.state = /* entry pending */
        OR entries.state IN (/* entry before reopen */) AND entries.kind = 'page'
    );

-- name: absent
-- Which of these URLs are not there (1). The unique key alone is read.
WITH asked (place, queue, url_hash, depth) AS (VALUES /* asked */)
SELECT asked.place, 1
FROM asked
LEFT JOIN entries ON entries.queue = asked.queue AND entries.url_hash = asked.url_hash
WHERE entries.seq IS NULL;

-- name: insert
-- Put a new URL at the end of its queue.
INSERT INTO entries (
    queue, url_hash, url, depth, priority, source, kind, parent, origin, hops,
    nesting, pattern, lastmod_s, discovered_s
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: approach
-- A pending URL was found again nearer to the seeds.
UPDATE entries SET depth = ?, priority = MAX(priority, ?)
WHERE queue = ? AND url_hash = ? AND state = /* entry pending */;

-- name: reopen
-- A completed page was found again nearer to the seeds: its links wait to be followed anew.
UPDATE entries
SET depth = ?, priority = MAX(priority, ?), state = /* entry after reopen */, due_s = 0
WHERE queue = ? AND url_hash = ? AND state IN (/* entry before reopen */);

-- name: queues
-- The queues of a job.
SELECT number FROM queues WHERE job = ?;

-- name: reopen_all
-- The links of every completed page of a queue wait to be followed anew.
UPDATE entries SET state = /* entry after reopen */, due_s = 0
WHERE queue = ? AND state IN (/* entry before reopen */) AND kind = 'page';

-- name: grow
-- New URLs wait in a queue: it may be looked at as soon as its host is free.
UPDATE queues
SET ready_s = CASE pending
        WHEN 0 THEN MAX(?2, (SELECT next_s FROM hosts WHERE hosts.host = queues.host))
        ELSE MIN(ready_s, MAX(?2, (SELECT next_s FROM hosts WHERE hosts.host = queues.host)))
    END,
    pending = pending + ?1,
    deepest = MAX(deepest, ?4)
WHERE number = ?3;

-- name: count
-- A job has found new URLs.
UPDATE jobs SET discovered = discovered + ?1, pending = pending + ?1 WHERE number = ?2;

-- name: regrow
-- Pages of a queue were opened again.
UPDATE queues
SET ready_s = CASE pending
        WHEN 0 THEN (SELECT next_s FROM hosts WHERE hosts.host = queues.host)
        ELSE MIN(ready_s, (SELECT next_s FROM hosts WHERE hosts.host = queues.host))
    END,
    pending = pending + :reopened
WHERE number = :queue;

-- name: recount
-- Completed pages of a job were opened again.
UPDATE jobs SET pending = pending + :reopened, completed = completed - :reopened
WHERE number = :job;
