-- name: ends
-- Where the last committed capture of each segment of a worker ends. A segment is the worker's if
-- something is missing once the worker's part of its name is taken out.
SELECT segment, MAX(ended)
FROM (
    SELECT record_segment AS segment, record_offset + record_length AS ended FROM captures
    UNION ALL
    SELECT response_segment, response_offset + response_length FROM captures
    WHERE response_segment IS NOT NULL
) AS written
WHERE REPLACE(segment, '/warc/' || :worker || '-', '') <> segment
GROUP BY segment;

-- name: job_ends
-- Where the last committed capture of each segment of a job ends.
SELECT segment, MAX(ended)
FROM (
    SELECT job, record_segment AS segment, record_offset + record_length AS ended FROM captures
    UNION ALL
    SELECT job, response_segment, response_offset + response_length FROM captures
    WHERE response_segment IS NOT NULL
) AS written
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
GROUP BY segment;

-- name: captures
-- The captures that lie in some segments, a JSON array: all are found in one reading of the table.
SELECT jobs.tenant, captures.job, captures.seq, url_hash, record_segment, record_offset
FROM captures
JOIN jobs ON jobs.number = captures.job
WHERE record_segment IN (SELECT value FROM json_each(:segments))
    OR response_segment IN (SELECT value FROM json_each(:segments))
ORDER BY jobs.tenant, captures.job, captures.seq;

-- name: queue
-- Where the entry of a capture is.
SELECT entries.queue, entries.url_hash, queues.job
FROM queues
JOIN entries ON entries.queue = queues.number
WHERE queues.job = :job AND entries.url_hash = :url_hash;

-- name: entry
-- How an entry ended: completed, or opened again to follow its links anew. Nobody else changes it
-- until the commit.
SELECT queue, url_hash, outcome, state
FROM entries
WHERE queue = :queue AND url_hash = :url_hash
    AND state IN (/* entry before requeue */) AND outcome IN (/* entry outcome completed */);

-- name: reopen
-- Let an entry wait again.
UPDATE entries
SET state = /* entry after requeue */, outcome = NULL, status = NULL, detail = '',
    media_type = NULL, body_bytes = NULL, settled_s = NULL, due_s = 0
WHERE queue = :queue AND url_hash = :url_hash AND state IN (/* entry before requeue */);

-- name: grow
-- More entries of a queue wait.
UPDATE queues SET pending = pending + :completed, ready_s = 0 WHERE number = :queue;

-- name: uncount
-- Take kept pages off a job's counters; those that were opened again wait already.
UPDATE jobs
SET pending = pending + :completed, completed = completed - :completed, settled = settled - :kept,
    collected = collected - :kept, duplicates = duplicates - :duplicates
WHERE number = :job;

-- name: forget_capture
-- Forget a capture; what is returned are the bytes that it takes.
DELETE FROM captures WHERE job = :job AND seq = :seq
RETURNING record_length + COALESCE(response_length, 0);
