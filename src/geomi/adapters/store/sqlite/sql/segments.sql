-- name: ends
-- Where the last committed capture of each segment of a worker ends.
SELECT segment, max(ended)
FROM (
    SELECT record_segment AS segment, record_offset + record_length AS ended FROM captures
    UNION ALL
    SELECT response_segment, response_offset + response_length FROM captures
    WHERE response_segment IS NOT NULL
)
WHERE instr(segment, '/warc/' || :worker || '-') > 0
GROUP BY segment;

-- name: job_ends
-- Where the last committed capture of each segment of a job ends.
SELECT segment, max(ended)
FROM (
    SELECT job, record_segment AS segment, record_offset + record_length AS ended FROM captures
    UNION ALL
    SELECT job, response_segment, response_offset + response_length FROM captures
    WHERE response_segment IS NOT NULL
)
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
GROUP BY segment;

-- name: captures
-- The captures that lie in a segment.
SELECT seq, job, url_hash FROM captures
WHERE record_segment = :segment OR response_segment = :segment;

-- name: entry
-- The entry that a capture belongs to: completed, or opened again to follow its links anew.
SELECT entries.seq, entries.queue, entries.outcome, entries.state
FROM queues
CROSS JOIN entries ON entries.queue = queues.number
WHERE queues.job = :job AND entries.url_hash = :url_hash
    AND (state = 'completed' OR state = 'pending' AND outcome IN ('ok', 'not_modified', 'duplicate'));

-- name: reopen
-- Let an entry wait again.
UPDATE entries
SET state = 'pending', outcome = NULL, status = NULL, detail = '', settled_s = NULL, due_s = 0
WHERE seq = :seq;

-- name: grow
-- A queue has one more entry that waits, if it did not wait before.
UPDATE queues SET pending = pending + :completed, ready_s = 0 WHERE number = :queue;

-- name: uncount
-- Take one kept page off a job's counters; one that was opened again waits already.
UPDATE jobs
SET pending = pending + :completed, completed = completed - :completed, settled = settled - 1,
    collected = collected - 1, duplicates = duplicates - :duplicate
WHERE number = :job;

-- name: rewind
-- Derived outputs of a job are to be written anew.
UPDATE cursors SET seq = 0, length = 0 WHERE job = :job;

-- name: forget_page
-- Forget a page whose newest capture is gone.
DELETE FROM pages WHERE url_hash = :url_hash AND capture = :capture
RETURNING tenant, number, sketch, duplicate_of;

-- name: forget_band
-- Let no page find it.
DELETE FROM bands WHERE band = ? AND page = ?;

-- name: forget_capture
-- Forget a capture; what is returned are its tenant and the bytes that it takes.
DELETE FROM captures WHERE seq = :capture
RETURNING (SELECT tenant FROM jobs WHERE jobs.number = captures.job),
    record_length + COALESCE(response_length, 0);
