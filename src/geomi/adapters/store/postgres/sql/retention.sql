-- name: due
-- The jobs whose URLs, or all of which, are to go: by the end of the last job of their crawl.
SELECT id,
       CASE
           WHEN expired = 'job_going' OR keep_job_s > 0 AND ended_s + keep_job_s <= %(wall_s)s
           THEN 'job_going'
           ELSE 'urls_going'
       END
FROM (
    SELECT id, number, expired, keep_urls_s, keep_job_s,
           MAX(
               CASE
                   WHEN state IN ('completed', 'failed', 'cancelled')
                   THEN COALESCE(ended_at_s, created_at_s)
                   ELSE 9e99
               END
           ) OVER (PARTITION BY CASE crawl WHEN '' THEN id ELSE crawl END) AS ended_s
    FROM jobs
    WHERE tenant = %(tenant)s
) AS runs
WHERE expired IN ('urls_going', 'job_going')
    OR keep_job_s > 0 AND ended_s + keep_job_s <= %(wall_s)s
    OR expired = '' AND keep_urls_s > 0 AND ended_s + keep_urls_s <= %(wall_s)s
ORDER BY number
LIMIT %(many)s;

-- name: mark
-- Write down what is going of a job.
UPDATE jobs SET expired = %(expired)s WHERE number = %(number)s;

-- name: going
-- The number of a job of which something is going.
SELECT number
FROM jobs
WHERE id = %(job)s AND tenant = %(tenant)s AND expired IN ('urls_going', 'job_going')
FOR UPDATE;

-- name: no_urls
-- No URL of a job is left.
UPDATE jobs
SET pending = 0, expired = CASE expired WHEN 'urls_going' THEN 'urls' ELSE expired END
WHERE number = %(number)s;

-- name: queue
-- One of a job's queues.
SELECT number FROM queues WHERE job = %(number)s LIMIT 1;

-- name: forget_patterns
-- Forget what the patterns of a queue brought.
DELETE FROM patterns WHERE queue = %(queue)s;

-- name: forget_queue
-- Forget a queue.
DELETE FROM queues WHERE number = %(queue)s;

-- name: captures
-- Captures of a job after one, in their order.
SELECT seq, url_hash, record_segment, record_offset
FROM captures
WHERE job = %(number)s AND seq > %(after)s
ORDER BY seq
LIMIT %(many)s;

-- name: last_request
-- Where a stretch of the request log ends.
SELECT MAX(number)
FROM (SELECT number FROM requests WHERE number > %(after)s ORDER BY number LIMIT %(many)s) AS stretch;

-- name: forget_requests
-- Forget what a stretch of the log has of a job.
DELETE FROM requests
WHERE number > %(after)s AND number <= %(last)s
    AND job = (SELECT number FROM names WHERE name = %(job)s);

-- name: forget_entries
-- Forget some URLs of a queue.
DELETE FROM entries
USING (SELECT url_hash FROM entries WHERE queue = %(queue)s LIMIT %(many)s) AS few
WHERE entries.queue = %(queue)s AND entries.url_hash = few.url_hash;

-- name: forget_pages
-- Forget the pages whose newest copies are these captures.
DELETE FROM pages
USING unnest(
    %(hashes)b::bytea[], %(segments)b::text[], %(offsets)b::bigint[]
) AS lost (url_hash, segment, start)
WHERE pages.tenant = %(tenant)s AND pages.url_hash = lost.url_hash
    AND pages.record_segment = lost.segment AND pages.record_offset = lost.start
RETURNING pages.url_hash, pages.number, pages.sketch, pages.duplicate_of;

-- name: forget_histories
-- Forget how they changed.
DELETE FROM histories WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[]);

-- name: forget_versions
-- Forget what they were before.
DELETE FROM versions WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[]);

-- name: forget_captures
-- Forget some captures of a job; what is returned are the bytes that each takes.
DELETE FROM captures
USING (SELECT seq FROM captures WHERE job = %(number)s LIMIT %(many)s) AS few
WHERE captures.job = %(number)s AND captures.seq = few.seq
RETURNING record_length + COALESCE(response_length, 0);
