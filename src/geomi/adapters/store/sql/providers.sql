-- name: list
-- A tenant's providers by key.
SELECT key, provider FROM providers WHERE tenant = :tenant ORDER BY key;

-- name: get
-- One provider.
SELECT key, provider FROM providers WHERE tenant = :tenant AND key = :key;

-- name: put
-- Keep a provider in place of the one before.
INSERT INTO providers (tenant, key, provider) VALUES (:tenant, :key, :provider)
ON CONFLICT (tenant, key) DO UPDATE SET provider = excluded.provider;

-- name: remove
-- Forget a provider.
DELETE FROM providers WHERE tenant = :tenant AND key = :key;

-- name: takedowns
-- What was erased, newest first.
SELECT /* columns */ FROM takedowns WHERE tenant = :tenant ORDER BY at_s DESC, number DESC;

-- name: put_takedown
-- Keep the line that says what was erased.
INSERT INTO takedowns (tenant, /* columns */) VALUES (:tenant, /* values */);

-- name: gather
-- Begin a list of what is erased; it is gone with its connection.
CREATE TEMP TABLE IF NOT EXISTS erased (url_hash BLOB PRIMARY KEY) WITHOUT ROWID;

-- name: forget_gathered
-- Empty that list.
DELETE FROM erased;

-- name: add_gathered
-- Put a page on it.
INSERT INTO erased (url_hash) VALUES (:url_hash) ON CONFLICT DO NOTHING;

-- name: hush_log
-- Take the URLs of erased pages out of the request log, where no other tenant's job asked for them.
UPDATE requests SET url = ''
WHERE url IN (
    SELECT url FROM pages
    WHERE tenant = :tenant AND url_hash IN (SELECT url_hash FROM erased)
    UNION
    SELECT final_url FROM pages
    WHERE tenant = :tenant AND url_hash IN (SELECT url_hash FROM erased)
    UNION
    SELECT url FROM captures
    WHERE url_hash IN (SELECT url_hash FROM erased)
        AND job IN (SELECT number FROM jobs WHERE tenant = :tenant)
) AND job NOT IN (
    SELECT names.number FROM jobs JOIN names ON names.name = jobs.id WHERE jobs.tenant <> :tenant
);

-- name: forget_captures
-- Forget the captures of erased pages in all jobs of a tenant; what is returned are the job of each,
-- and the bytes that it takes.
DELETE FROM captures
WHERE url_hash IN (SELECT url_hash FROM erased)
    AND job IN (SELECT number FROM jobs WHERE tenant = :tenant)
RETURNING job, record_length + COALESCE(response_length, 0);

-- name: forget_page
-- Forget an erased page.
DELETE FROM pages WHERE tenant = :tenant AND url_hash = :url_hash
RETURNING number, sketch, duplicate_of;

-- name: forget_documents
-- Forget what was understood of it.
DELETE FROM documents WHERE tenant = :tenant AND url_hash = :url_hash;
