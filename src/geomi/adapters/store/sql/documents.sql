-- name: put
-- Keep a document in place of the one before under its id.
INSERT INTO documents (tenant, /* columns */) VALUES (:tenant, /* values */)
ON CONFLICT (tenant, id) DO UPDATE SET /* updates */;

-- name: get
-- One document.
SELECT /* columns */ FROM documents WHERE tenant = :tenant AND id = :id;

-- name: known
-- Of what, and how, a document was made.
SELECT id, capture, version FROM documents WHERE tenant = :tenant AND id = :id;

-- name: list
-- The documents of a filter, in the order of their ids.
SELECT /* columns */
FROM documents
WHERE tenant = :tenant AND id > :after /* conditions */
ORDER BY id
LIMIT :many;

-- name: delete
-- Forget the documents of a filter.
DELETE FROM documents WHERE tenant = :tenant /* conditions */;

-- name: drop
-- Forget one document.
DELETE FROM documents WHERE tenant = :tenant AND id = :id;

-- name: collections
-- How many documents of each collection ended in which state.
SELECT collection, COUNT(*) FILTER (WHERE state = /* document indexed */),
       COUNT(*) FILTER (WHERE state = /* document skipped */),
       COUNT(*) FILTER (WHERE state = /* document failed */),
       SUM(chunks)
FROM documents
WHERE tenant = :tenant
GROUP BY collection
ORDER BY collection;

-- name: counts
-- How many documents of a job ended in which state.
SELECT COUNT(*) FILTER (WHERE state = /* document indexed */),
       COUNT(*) FILTER (WHERE state = /* document skipped */),
       COUNT(*) FILTER (WHERE state = /* document failed */), COALESCE(SUM(chunks), 0)
FROM documents
WHERE tenant = :tenant AND job = :job;
