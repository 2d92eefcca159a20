-- name: list
-- A tenant's providers by key.
SELECT key, provider FROM providers WHERE tenant = ? ORDER BY key;

-- name: get
-- One provider.
SELECT key, provider FROM providers WHERE tenant = ? AND key = ?;

-- name: put
-- Keep a provider in place of the one before.
INSERT OR REPLACE INTO providers (tenant, key, provider) VALUES (?, ?, ?);

-- name: remove
-- Forget a provider.
DELETE FROM providers WHERE tenant = ? AND key = ?;

-- name: takedowns
-- What was erased, newest first.
SELECT key, name, reason, at_s, jobs, pages
FROM takedowns
WHERE tenant = ?
ORDER BY at_s DESC, number DESC;

-- name: put_takedown
-- Keep the line that says what was erased.
INSERT INTO takedowns (tenant, key, name, reason, at_s, jobs, pages) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: gather
-- Begin a list of what is erased; it is gone with its connection.
CREATE TEMP TABLE IF NOT EXISTS erased (url_hash BLOB PRIMARY KEY) WITHOUT ROWID;

-- name: forget_gathered
-- Empty that list.
DELETE FROM temp.erased;

-- name: erase
-- Put a page on it.
INSERT OR IGNORE INTO temp.erased (url_hash) VALUES (?);

-- name: erased_captures
-- The captures of erased pages in all jobs of a tenant, and the bytes that each takes.
SELECT captures.seq, captures.job, record_length + COALESCE(response_length, 0)
FROM captures
WHERE url_hash IN (SELECT url_hash FROM temp.erased)
    AND job IN (SELECT number FROM jobs WHERE tenant = ?);

-- name: hush_log
-- Take the URLs of erased pages out of the request log, where no other tenant's job asked for them.
UPDATE requests SET url = ''
WHERE url IN (
    SELECT url FROM pages
    WHERE tenant = :tenant AND url_hash IN (SELECT url_hash FROM temp.erased)
    UNION
    SELECT final_url FROM pages
    WHERE tenant = :tenant AND url_hash IN (SELECT url_hash FROM temp.erased)
    UNION
    SELECT url FROM captures
    WHERE url_hash IN (SELECT url_hash FROM temp.erased)
        AND job IN (SELECT number FROM jobs WHERE tenant = :tenant)
) AND job NOT IN (
    SELECT names.number FROM jobs JOIN names ON names.name = jobs.id WHERE jobs.tenant <> :tenant
);

-- name: erased_pages
-- The erased pages, for similar ones.
SELECT number, sketch, duplicate_of
FROM pages
WHERE tenant = ? AND url_hash IN (SELECT url_hash FROM temp.erased);

-- name: forget_band
-- Let no page find an erased one.
DELETE FROM bands WHERE band = ? AND page = ?;

-- name: forget_capture
-- Forget an erased capture.
DELETE FROM captures WHERE seq = ?;

-- name: rewind
-- Derived outputs of a job are to be written anew.
UPDATE cursors SET seq = 0, length = 0 WHERE job = ?;

-- name: forget_pages
-- Forget the erased pages.
DELETE FROM pages
WHERE tenant = ? AND url_hash IN (SELECT url_hash FROM temp.erased);

-- name: forget_histories
-- Forget how they changed.
DELETE FROM histories
WHERE tenant = ? AND url_hash IN (SELECT url_hash FROM temp.erased);

-- name: forget_versions
-- Forget what they were before.
DELETE FROM versions
WHERE tenant = ? AND url_hash IN (SELECT url_hash FROM temp.erased);

-- name: forget_documents
-- Forget what was understood of them.
DELETE FROM documents
WHERE tenant = ? AND url_hash IN (SELECT url_hash FROM temp.erased);
