-- name: gather
-- Begin a list of what is erased; it is gone with its connection.
CREATE TEMP TABLE IF NOT EXISTS erased (url_hash bytea PRIMARY KEY);

-- name: forget_documents
-- Forget what was understood of it. It is found by its hash; the tenant is looked at then, because
-- by its key all its documents would be read.
DELETE FROM documents WHERE tenant || '' = :tenant AND url_hash = :url_hash;
