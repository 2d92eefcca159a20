-- name: put
-- Keep a document in place of the one before under its id.
INSERT OR REPLACE INTO documents (
    tenant, id, url_hash, url, title, collection, site, job, capture, version, state, reason,
    detail, page_type, language, quality, chunks, analysis, updated_at_s
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: get
-- One document.
SELECT id, url_hash, url, title, collection, site, job, capture, version, state, reason,
       detail, page_type, language, quality, chunks, analysis, updated_at_s
FROM documents
WHERE tenant = ? AND id = ?;

-- name: known
-- Of what, and how, a document was made.
SELECT capture, version FROM documents WHERE tenant = ? AND id = ?;

-- name: list
-- The documents of a filter, in the order of their ids.
SELECT id, url_hash, url, title, collection, site, job, capture, version, state, reason,
       detail, page_type, language, quality, chunks, analysis, updated_at_s
FROM documents
WHERE tenant = :tenant AND id > :after /* conditions */
ORDER BY id
LIMIT :many;

-- name: delete
-- Forget the documents of a filter.
DELETE FROM documents WHERE tenant = :tenant /* conditions */;

-- name: drop
-- Forget one document.
DELETE FROM documents WHERE tenant = ? AND id = ?;

-- name: collections
-- How many documents of each collection ended in which state.
SELECT collection, SUM(state = 'indexed'), SUM(state = 'skipped'), SUM(state = 'failed'),
       SUM(chunks)
FROM documents
WHERE tenant = ?
GROUP BY collection
ORDER BY collection;

-- name: counts
-- How many documents of a job ended in which state.
SELECT COALESCE(SUM(state = 'indexed'), 0), COALESCE(SUM(state = 'skipped'), 0),
       COALESCE(SUM(state = 'failed'), 0), COALESCE(SUM(chunks), 0)
FROM documents
WHERE tenant = ? AND job = ?;
