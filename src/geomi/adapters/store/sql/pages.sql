-- name: get
-- One page of a tenant.
SELECT /* columns */ FROM pages WHERE tenant = :tenant AND url_hash = :url_hash;

-- name: visited
-- When a page was fetched last, and when it is due.
SELECT url_hash, fetched_at_s, due_s
FROM pages
WHERE tenant = :tenant AND url_hash = :url_hash;

-- name: twin
-- The first page of a job that was kept under an exact key, and what it repeats itself.
SELECT captures.exact_key, captures.url, COALESCE(pages.duplicate_of, ''), captures.url_hash
FROM captures
LEFT JOIN pages ON pages.tenant = :tenant AND pages.url_hash = captures.url_hash
WHERE captures.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND captures.exact_key IS NOT NULL AND captures.exact_key = :exact_key
ORDER BY captures.seq
LIMIT 1;

-- name: near
-- The pages that share a band, of each band the newest, oldest first.
WITH shared (page) AS (
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_0 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_1 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_2 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_3 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_4 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_5 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_6 ORDER BY page DESC LIMIT :many)
    UNION
    SELECT * FROM (SELECT page FROM bands WHERE band = :band_7 ORDER BY page DESC LIMIT :many)
)
SELECT pages.url, pages.sketch, pages.duplicate_of, pages.url_hash, pages.exact_key
FROM shared
CROSS JOIN pages ON pages.number = shared.page
WHERE pages.tenant = :tenant
ORDER BY pages.number;

-- name: feed
-- Captures of a job after a cursor, in the order of commits.
SELECT seq, url, record_segment, record_offset, record_length,
       response_segment, response_offset, response_length
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
-- Write how far a derived output has come, unless it was rewound meanwhile.
INSERT INTO cursors (job, name, seq, length) VALUES (:job, :name, :seq, :length)
ON CONFLICT (job, name) DO UPDATE SET seq = excluded.seq, length = excluded.length
WHERE cursors.seq = :after;

-- name: rewind
-- Derived outputs of a job are to be written anew.
UPDATE cursors SET seq = 0, length = 0 WHERE job = :job;

-- name: rewind_shares
-- Nobody works on shares of a job any more.
DELETE FROM shares WHERE job = :job;

-- name: forget_copy
-- Forget a page whose newest copy is this capture.
DELETE FROM pages WHERE tenant = :tenant AND url_hash = :url_hash AND capture = :seq
RETURNING url_hash, number, sketch, duplicate_of;

-- name: forget_band
-- Let similar pages find a page no more.
DELETE FROM bands WHERE band = :band AND page = :page;

-- name: forget_history
-- Forget how a page changed.
DELETE FROM histories WHERE tenant = :tenant AND url_hash = :url_hash;

-- name: forget_versions
-- Forget what a page was before.
DELETE FROM versions WHERE tenant = :tenant AND url_hash = :url_hash;
