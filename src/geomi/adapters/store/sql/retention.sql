-- name: due
-- The jobs whose URLs, or all of which, are to go: by the end of the last job of their crawl.
SELECT id,
       CASE
           WHEN expired = 'job_going' OR keep_job_s > 0 AND ended_s + keep_job_s <= :wall_s
           THEN 'job_going'
           ELSE 'urls_going'
       END
FROM (
    SELECT id, number, expired, keep_urls_s, keep_job_s,
           MAX(
               CASE
                   WHEN state IN (/* job over */)
                   THEN COALESCE(ended_at_s, created_at_s)
                   ELSE 9e99
               END
           ) OVER (PARTITION BY CASE crawl WHEN '' THEN id ELSE crawl END) AS ended_s
    FROM jobs
    WHERE tenant = :tenant
) AS runs
WHERE expired IN ('urls_going', 'job_going')
    OR keep_job_s > 0 AND ended_s + keep_job_s <= :wall_s
    OR expired = '' AND keep_urls_s > 0 AND ended_s + keep_urls_s <= :wall_s
ORDER BY number
LIMIT :many;

-- name: mark
-- Write down what is going of a job.
UPDATE jobs SET expired = :expired WHERE number = :number;

-- name: lock
-- The number of a job; nobody else changes it until the commit.
SELECT number FROM jobs WHERE id = :job AND tenant = :tenant;

-- name: going
-- The number of a job of which something is going; nobody else changes it until the commit.
SELECT number
FROM jobs
WHERE id = :job AND tenant = :tenant AND expired IN ('urls_going', 'job_going');

-- name: no_urls
-- No URL of a job is left.
UPDATE jobs
SET pending = 0, expired = CASE expired WHEN 'urls_going' THEN 'urls' ELSE expired END
WHERE number = :number;

-- name: queue
-- One of a job's queues.
SELECT number FROM queues WHERE job = :number LIMIT 1;

-- name: forget_patterns
-- Forget what the patterns of a queue brought.
DELETE FROM patterns WHERE queue = :queue;

-- name: forget_queue
-- Forget a queue.
DELETE FROM queues WHERE number = :queue;

-- name: captures
-- Captures of a job after one, in their order.
SELECT seq, url_hash, record_segment, record_offset
FROM captures
WHERE job = :number AND seq > :after
ORDER BY seq
LIMIT :many;

-- name: last_request
-- Where a stretch of the request log ends.
SELECT MAX(number)
FROM (SELECT number FROM requests WHERE number > :after ORDER BY number LIMIT :many) AS stretch;

-- name: forget_requests
-- Forget what a stretch of the log has of a job.
DELETE FROM requests
WHERE number > :after AND number <= :last
    AND job = (SELECT number FROM names WHERE name = :job);

-- name: forget_entries
-- Forget some URLs of a queue.
DELETE FROM entries WHERE seq IN (SELECT seq FROM entries WHERE queue = :queue LIMIT :many);

-- name: forget_captures
-- Forget some captures of a job; what is returned are the bytes that each takes.
DELETE FROM captures WHERE seq IN (SELECT seq FROM captures WHERE job = :number LIMIT :many)
RETURNING record_length + COALESCE(response_length, 0);
