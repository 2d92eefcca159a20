-- name: how_many
-- How many chunks match, as far as it is worth counting.
SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?);

-- name: match
-- Chunks by their words. The order of joins is fixed: the words give them best first.
SELECT documents.id, chunks.id, -words.rank
FROM words
CROSS JOIN chunks ON chunks.number = words.rowid
CROSS JOIN documents ON documents.number = chunks.document
WHERE
    words MATCH :expression
    AND (:collections IS NULL OR collection IN (SELECT value FROM json_each(:collections)))
    AND (:sites IS NULL OR site IN (SELECT value FROM json_each(:sites)))
    AND (:page_types IS NULL OR page_type IN (SELECT value FROM json_each(:page_types)))
    AND (:languages IS NULL OR language IN (SELECT value FROM json_each(:languages)))
    AND (:since_s IS NULL OR date_s >= :since_s)
    AND (:until_s IS NULL OR date_s < :until_s)
ORDER BY words.rank
LIMIT :limit;

-- name: allowed
-- Numbers of all chunks that the filters let through.
SELECT chunks.number
FROM documents
CROSS JOIN chunks ON chunks.document = documents.number
WHERE
    (:collections IS NULL OR collection IN (SELECT value FROM json_each(:collections)))
    AND (:sites IS NULL OR site IN (SELECT value FROM json_each(:sites)))
    AND (:page_types IS NULL OR page_type IN (SELECT value FROM json_each(:page_types)))
    AND (:languages IS NULL OR language IN (SELECT value FROM json_each(:languages)))
    AND (:since_s IS NULL OR date_s >= :since_s)
    AND (:until_s IS NULL OR date_s < :until_s);

-- name: names
-- The names of chunks by their numbers, in the order given.
SELECT documents.id, chunks.id
FROM json_each(:numbers) AS given
CROSS JOIN chunks ON chunks.number = given.value
CROSS JOIN documents ON documents.number = chunks.document
ORDER BY given.key;
