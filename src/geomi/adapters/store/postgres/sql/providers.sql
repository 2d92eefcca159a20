-- name: list
-- A tenant's providers by key.
SELECT key, provider FROM providers WHERE tenant = %(tenant)s ORDER BY key;

-- name: get
-- One provider.
SELECT key, provider FROM providers WHERE tenant = %(tenant)s AND key = %(key)s;

-- name: put
-- Keep a provider in place of the one before.
INSERT INTO providers (tenant, key, provider) VALUES (%(tenant)s, %(key)s, %(provider)s)
ON CONFLICT (tenant, key) DO UPDATE SET provider = excluded.provider;

-- name: remove
-- Forget a provider.
DELETE FROM providers WHERE tenant = %(tenant)s AND key = %(key)s;

-- name: takedowns
-- What was erased, newest first.
SELECT key, name, reason, at_s, jobs, pages
FROM takedowns
WHERE tenant = %(tenant)s
ORDER BY at_s DESC, number DESC;

-- name: put_takedown
-- Keep the line that says what was erased.
INSERT INTO takedowns (tenant, key, name, reason, at_s, jobs, pages)
VALUES (%(tenant)s, %(key)s, %(name)s, %(reason)s, %(at_s)s, %(jobs)s, %(pages)s);

-- name: hush_log
-- Take the URLs of erased pages out of the request log, where no other tenant's job asked for them.
UPDATE requests SET url = ''
WHERE url IN (
    SELECT url FROM pages
    WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[])
    UNION
    SELECT final_url FROM pages
    WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[])
    UNION
    SELECT url FROM captures
    WHERE url_hash = ANY(%(hashes)b::bytea[])
        AND job IN (SELECT number FROM jobs WHERE tenant = %(tenant)s)
) AND job NOT IN (
    SELECT names.number FROM jobs JOIN names ON names.name = jobs.id
    WHERE jobs.tenant <> %(tenant)s
);

-- name: forget_captures
-- Forget the captures of erased pages in all jobs of a tenant; what is returned are these jobs, and
-- the bytes that the captures of each take.
WITH forgotten AS (
    DELETE FROM captures
    WHERE url_hash = ANY(%(hashes)b::bytea[])
        AND job IN (SELECT number FROM jobs WHERE tenant = %(tenant)s)
    RETURNING job, record_length + COALESCE(response_length, 0) AS bytes
)
SELECT job, SUM(bytes)::bigint FROM forgotten GROUP BY job;

-- name: forget_pages
-- Forget the erased pages.
DELETE FROM pages
WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[])
RETURNING number, sketch, duplicate_of;

-- name: rewind
-- Derived outputs of jobs are to be written anew.
UPDATE cursors SET seq = 0, length = 0 WHERE job = ANY(%(jobs)b::bigint[]);

-- name: forget_histories
-- Forget how the erased pages changed.
DELETE FROM histories
WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[]);

-- name: forget_versions
-- Forget what the erased pages were before.
DELETE FROM versions
WHERE tenant = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[]);

-- name: forget_documents
-- Forget what was understood of the erased pages. They are found by their hashes; the tenant is
-- looked at then, because by its key all its documents would be read.
DELETE FROM documents
WHERE tenant || '' = %(tenant)s AND url_hash = ANY(%(hashes)b::bytea[]);
