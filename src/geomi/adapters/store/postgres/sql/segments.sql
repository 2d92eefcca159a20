-- name: ends
-- Where the last committed capture of each segment of a worker ends.
SELECT segment, max(ended)
FROM (
    SELECT record_segment AS segment, record_offset + record_length AS ended FROM captures
    UNION ALL
    SELECT response_segment, response_offset + response_length FROM captures
    WHERE response_segment IS NOT NULL
) AS written
WHERE strpos(segment, '/warc/' || %(worker)s || '-') > 0
GROUP BY segment;

-- name: job_ends
-- Where the last committed capture of each segment of a job ends.
SELECT segment, max(ended)
FROM (
    SELECT job, record_segment AS segment, record_offset + record_length AS ended FROM captures
    UNION ALL
    SELECT job, response_segment, response_offset + response_length FROM captures
    WHERE response_segment IS NOT NULL
) AS written
WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
GROUP BY segment;

-- name: captures
-- The captures that lie in some segments.
SELECT seq, job, url_hash, record_segment, record_offset
FROM captures
WHERE record_segment = ANY(%(segments)b::text[]) OR response_segment = ANY(%(segments)b::text[])
ORDER BY job, seq;

-- name: entries
-- The entries that captures belong to: completed, or opened again to follow their links anew.
SELECT lost.job, entries.queue, entries.url_hash, entries.outcome, entries.state
FROM unnest(%(jobs)b::bigint[], %(hashes)b::bytea[]) AS lost (job, url_hash)
JOIN queues ON queues.job = lost.job
JOIN entries ON entries.queue = queues.number AND entries.url_hash = lost.url_hash
WHERE state = 'completed' OR state = 'pending' AND outcome IN ('ok', 'not_modified', 'duplicate')
ORDER BY entries.queue, entries.url_hash
FOR NO KEY UPDATE OF entries;

-- name: reopen
-- Let entries wait again; their rows are locked.
UPDATE entries
SET state = 'pending', outcome = NULL, status = NULL, detail = '', settled_s = NULL, due_s = 0
FROM unnest(%(queues)b::bigint[], %(hashes)b::bytea[]) AS lost (queue, url_hash)
WHERE entries.queue = lost.queue AND entries.url_hash = lost.url_hash;

-- name: grow
-- Queues have more entries that wait; they are locked.
UPDATE queues SET pending = pending + lost.many, ready_s = 0
FROM unnest(%(queues)b::bigint[], %(many)b::bigint[]) AS lost (queue, many)
WHERE queues.number = lost.queue;

-- name: uncount
-- Take kept pages off a job's counters; those that were opened again wait already.
UPDATE jobs
SET pending = pending + %(completed)s, completed = completed - %(completed)s,
    settled = settled - %(kept)s, collected = collected - %(kept)s,
    duplicates = duplicates - %(duplicates)s
WHERE number = %(job)s;

-- name: rewind
-- Derived outputs of jobs are to be written anew.
UPDATE cursors SET seq = 0, length = 0 WHERE job = ANY(%(jobs)b::bigint[]);

-- name: forget_pages
-- Forget the pages whose newest bytes were in lost captures.
DELETE FROM pages
USING unnest(
    %(jobs)b::bigint[], %(hashes)b::bytea[], %(segments)b::text[], %(offsets)b::bigint[]
) AS lost (job, url_hash, segment, start)
JOIN jobs ON jobs.number = lost.job
WHERE pages.tenant = jobs.tenant AND pages.url_hash = lost.url_hash
    AND pages.record_segment = lost.segment AND pages.record_offset = lost.start
RETURNING pages.tenant, pages.number, pages.sketch, pages.duplicate_of;

-- name: forget_captures
-- Forget captures; what is returned are the tenant of each and the bytes that it takes.
DELETE FROM captures
USING unnest(%(jobs)b::bigint[], %(seqs)b::bigint[]) AS lost (job, seq)
JOIN jobs ON jobs.number = lost.job
WHERE captures.job = lost.job AND captures.seq = lost.seq
RETURNING jobs.tenant, captures.record_length + COALESCE(captures.response_length, 0);
