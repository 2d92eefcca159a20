-- name: get_fact
-- One fact about the index.
SELECT value FROM meta WHERE key = ?;

-- name: put_fact
-- Write one fact about the index.
INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?);

-- name: find_document
-- A document's number, and what its chunks are found by beside their text.
SELECT number, title, kept FROM documents WHERE id = ?;

-- name: add_document
-- Write a new document.
INSERT INTO documents (
    id, url, title, collection, site, job, page_type, language, date_s, kept
) VALUES (
    :id, :url, :title, :collection, :site, :job, :page_type, :language, :date_s, :kept
);

-- name: change_document
-- Write a document in place of itself.
UPDATE documents SET
    url = :url, title = :title, collection = :collection, site = :site, job = :job,
    page_type = :page_type, language = :language, date_s = :date_s, kept = :kept
WHERE number = :number;

-- name: change_job
-- Let a document belong to another job.
UPDATE documents SET job = ? WHERE id = ?;

-- name: some_of_document
-- Some documents by id.
SELECT number, title, kept FROM documents WHERE id = ? LIMIT ?;

-- name: some_of_site
-- Some documents of a site.
SELECT number, title, kept FROM documents WHERE site = ? LIMIT ?;

-- name: some_of_job
-- Some documents of a job.
SELECT number, title, kept FROM documents WHERE job = ? LIMIT ?;

-- name: some_of_collection
-- Some documents of a collection.
SELECT number, title, kept FROM documents WHERE collection = ? LIMIT ?;

-- name: forget_document
-- Take out a document.
DELETE FROM documents WHERE number = ?;

-- name: chunks_of
-- What is needed to take out a document's chunks.
SELECT number, id, headings, text, bag FROM chunks WHERE document = ?;

-- name: all_chunks
-- What is needed to index every chunk anew.
SELECT chunks.number, title, headings, text, bag, kept
FROM chunks JOIN documents ON documents.number = chunks.document;

-- name: add_chunk
-- Write a chunk.
INSERT INTO chunks (
    document, id, position, url, headings, text, tokens, tokenizer, bag
) VALUES (
    :document, :id, :position, :url, :headings, :text, :tokens, :tokenizer, :bag
);

-- name: move_chunk
-- A chunk that is the same may stand elsewhere in its page, and come from elsewhere.
UPDATE chunks SET position = :position, url = :url WHERE number = :number;

-- name: forget_chunk
-- Take out a chunk.
DELETE FROM chunks WHERE number = ?;

-- name: add_words
-- Let a chunk be found.
INSERT INTO words (rowid, head, body) VALUES (?, ?, ?);

-- name: forget_words
-- Let a chunk be found no more: exactly what was added has to be named.
INSERT INTO words (words, rowid, head, body) VALUES ('delete', ?, ?, ?);

-- name: forget_all_words
-- Let no chunk be found.
INSERT INTO words (words) VALUES ('delete-all');

-- name: merge_words
-- Make one part of all, without anything that was taken out.
INSERT INTO words (words) VALUES ('optimize');

-- name: forget_vectors
-- Take out the vectors of a chunk.
DELETE FROM vectors WHERE chunk = ?;

-- name: forget_all_documents
-- Take out every document.
DELETE FROM documents;

-- name: forget_all_chunks
-- Take out every chunk.
DELETE FROM chunks;

-- name: forget_all_vectors
-- Take out every vector.
DELETE FROM vectors;

-- name: counts
-- How much there is.
SELECT
    (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks), (SELECT count(*) FROM vectors);

-- name: passages
-- Chunks by the names of their documents and their own.
SELECT
    documents.id, chunks.id, COALESCE(NULLIF(chunks.url, ''), documents.url), title, headings,
    text, collection, site, page_type, language, date_s
FROM json_each(:keys) AS named
CROSS JOIN documents ON documents.id = named.value ->> 0
CROSS JOIN chunks ON chunks.document = documents.number AND chunks.id = named.value ->> 1
ORDER BY named.key;
