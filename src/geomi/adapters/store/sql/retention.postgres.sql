-- name: lock
-- The number of a job; nobody else changes it until the commit.
SELECT number FROM jobs WHERE id = :job AND tenant = :tenant FOR UPDATE;

-- name: going
-- The number of a job of which something is going; nobody else changes it until the commit.
SELECT number
FROM jobs
WHERE id = :job AND tenant = :tenant AND expired IN ('urls_going', 'job_going')
FOR UPDATE;

-- name: forget_entries
-- Forget some URLs of a queue.
DELETE FROM entries
USING (SELECT url_hash FROM entries WHERE queue = :queue LIMIT :many) AS few
WHERE entries.queue = :queue AND entries.url_hash = few.url_hash;

-- name: forget_captures
-- Forget some captures of a job; what is returned are the bytes that each takes.
DELETE FROM captures
USING (SELECT seq FROM captures WHERE job = :number LIMIT :many) AS few
WHERE captures.job = :number AND captures.seq = few.seq
RETURNING record_length + COALESCE(response_length, 0);
