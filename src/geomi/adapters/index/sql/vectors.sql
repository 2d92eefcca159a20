-- name: find_embedder
-- An embedder's number and how long its vectors are.
SELECT number, dimensions FROM embedders WHERE name = ?;

-- name: add_embedder
-- Write a new embedder.
INSERT INTO embedders (name, dimensions) VALUES (?, ?);

-- name: lacking
-- A document's chunks without a vector of an embedder.
SELECT chunks.id
FROM documents JOIN chunks ON chunks.document = documents.number
WHERE documents.id = :document AND NOT EXISTS (
    SELECT 1 FROM vectors JOIN embedders ON embedders.number = vectors.embedder
    WHERE vectors.chunk = chunks.number AND embedders.name = :embedder
)
ORDER BY chunks.position;

-- name: forget_vector
-- Take out one vector of a chunk.
DELETE FROM vectors WHERE embedder = :embedder AND chunk = (
    SELECT chunks.number
    FROM documents JOIN chunks ON chunks.document = documents.number
    WHERE documents.id = :document AND chunks.id = :chunk
);

-- name: put_vector
-- Keep the vector of a chunk that is still there.
INSERT INTO vectors (embedder, chunk, data)
SELECT :embedder, chunks.number, :data
FROM documents JOIN chunks ON chunks.document = documents.number
WHERE documents.id = :document AND chunks.id = :chunk;

-- name: newer
-- Vectors that were written since.
SELECT seq, chunk, data FROM vectors WHERE embedder = ? AND seq > ? ORDER BY seq;

-- name: present
-- Which vectors there are, each by its place in the order of writing.
SELECT seq FROM vectors WHERE embedder = ?;
