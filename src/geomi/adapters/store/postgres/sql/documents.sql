-- name: put
-- Keep documents in place of those before under their ids.
INSERT INTO documents (
    id, url_hash, url, title, collection, site, job, capture, version, state, reason,
    detail, page_type, language, quality, chunks, analysis, updated_at_s, tenant
)
SELECT new.*, %(tenant)s
FROM unnest(
    %(id)b::text[], %(url_hash)b::bytea[], %(url)b::text[], %(title)b::text[],
    %(collection)b::text[], %(site)b::text[], %(job)b::text[], %(capture)b::bigint[],
    %(version)b::text[], %(state)b::text[], %(reason)b::text[], %(detail)b::text[],
    %(page_type)b::text[], %(language)b::text[], %(quality)b::float8[], %(chunks)b::integer[],
    %(analysis)b::bytea[], %(updated_at_s)b::float8[]
) AS new
ON CONFLICT (tenant, id) DO UPDATE
SET url_hash = excluded.url_hash, url = excluded.url, title = excluded.title,
    collection = excluded.collection, site = excluded.site, job = excluded.job,
    capture = excluded.capture, version = excluded.version, state = excluded.state,
    reason = excluded.reason, detail = excluded.detail, page_type = excluded.page_type,
    language = excluded.language, quality = excluded.quality, chunks = excluded.chunks,
    analysis = excluded.analysis, updated_at_s = excluded.updated_at_s;

-- name: get
-- One document.
SELECT id, url_hash, url, title, collection, site, job, capture, version, state, reason,
       detail, page_type, language, quality, chunks, analysis, updated_at_s
FROM documents
WHERE tenant = %(tenant)s AND id = %(id)s;

-- name: known
-- Of what, and how, documents were made: one look at the key for each, however few there seem to be.
SELECT asked.id, found.capture, found.version
FROM unnest(%(ids)b::text[]) AS asked (id)
CROSS JOIN LATERAL (
    SELECT capture, version
    FROM documents
    WHERE documents.tenant = %(tenant)s AND documents.id = asked.id
    LIMIT 1
) AS found;

-- name: list
-- The documents of a filter, in the order of their ids.
SELECT id, url_hash, url, title, collection, site, job, capture, version, state, reason,
       detail, page_type, language, quality, chunks, analysis, updated_at_s
FROM documents
WHERE tenant = %(tenant)s AND id > %(after)s /* conditions */
ORDER BY id
LIMIT %(many)s;

-- name: delete
-- Forget the documents of a filter.
DELETE FROM documents WHERE tenant = %(tenant)s /* conditions */;

-- name: drop
-- Forget one document.
DELETE FROM documents WHERE tenant = %(tenant)s AND id = %(id)s RETURNING id;

-- name: collections
-- How many documents of each collection ended in which state.
SELECT collection, COUNT(*) FILTER (WHERE state = 'indexed'),
       COUNT(*) FILTER (WHERE state = 'skipped'), COUNT(*) FILTER (WHERE state = 'failed'),
       SUM(chunks)::bigint
FROM documents
WHERE tenant = %(tenant)s
GROUP BY collection
ORDER BY collection;

-- name: counts
-- How many documents of a job ended in which state.
SELECT COUNT(*) FILTER (WHERE state = 'indexed'), COUNT(*) FILTER (WHERE state = 'skipped'),
       COUNT(*) FILTER (WHERE state = 'failed'), COALESCE(SUM(chunks), 0)::bigint
FROM documents
WHERE tenant = %(tenant)s AND job = %(job)s;
