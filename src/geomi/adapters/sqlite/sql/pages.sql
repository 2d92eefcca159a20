-- name: get
-- One page of a tenant.
SELECT url_hash, url, final_url, status, content_type, fetched_at_s, due_s,
       content_hash, html_hash, exact_key, simhash,
       record_segment, record_offset, record_length,
       response_segment, response_offset, response_length,
       etag, last_modified, title, duplicate_of, near
FROM pages
WHERE tenant = ? AND url_hash = ?;

-- name: twin
-- The first page of a job that was kept under an exact key.
SELECT url
FROM captures
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND exact_key IS NOT NULL AND exact_key = :exact_key
ORDER BY seq
LIMIT 1;

-- name: near
-- The captures of a job that share a slice of a simhash, of each slice the newest, oldest first.
WITH shared (capture) AS (
    SELECT * FROM (SELECT capture FROM bands WHERE job = :number AND band = :band_0
                   ORDER BY capture DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT capture FROM bands WHERE job = :number AND band = :band_1
                   ORDER BY capture DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT capture FROM bands WHERE job = :number AND band = :band_2
                   ORDER BY capture DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT capture FROM bands WHERE job = :number AND band = :band_3
                   ORDER BY capture DESC LIMIT :many)
)
SELECT captures.url, captures.simhash
FROM shared
CROSS JOIN captures ON captures.seq = shared.capture
ORDER BY captures.seq;

-- name: feed
-- Captures of a job after a cursor, in the order of commits.
SELECT seq, url, record_segment, record_offset, record_length
FROM captures
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant) AND seq > :after
ORDER BY seq
LIMIT :many;

-- name: cursor
-- How far a derived output has come.
SELECT seq, length
FROM cursors
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant) AND name = :name;

-- name: advance
-- Write how far a derived output has come.
INSERT OR REPLACE INTO cursors (job, name, seq, length) VALUES (:job, :name, :seq, :length);
