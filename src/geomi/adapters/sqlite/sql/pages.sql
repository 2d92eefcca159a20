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

-- name: in_band
-- The newest captures of a job that share one slice of a simhash.
SELECT captures.seq, captures.url, captures.simhash
FROM bands
CROSS JOIN captures ON captures.seq = bands.capture
WHERE bands.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND bands.band = :band
ORDER BY bands.capture DESC
LIMIT :many;

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
