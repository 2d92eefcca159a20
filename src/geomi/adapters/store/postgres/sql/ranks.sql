-- name: put
-- Write the ranks of some names; where a list names one twice, the better one.
INSERT INTO ranks (name, rank, edition)
SELECT name, MIN(rank), %(edition)s
FROM unnest(%(names)b::text[], %(ranks)b::bigint[]) AS listed (name, rank)
GROUP BY name
ORDER BY name COLLATE "C"
ON CONFLICT (name) DO UPDATE
SET rank = CASE
        WHEN ranks.edition = excluded.edition THEN LEAST(ranks.rank, excluded.rank)
        ELSE excluded.rank
    END,
    edition = excluded.edition;

-- name: drop
-- Forget what another list said.
DELETE FROM ranks WHERE edition <> %(edition)s;

-- name: find
-- The ranks of some names.
SELECT name, rank FROM ranks WHERE name = ANY(%(names)b::text[]);

-- name: count
-- How many names have a rank.
SELECT COUNT(*) FROM ranks;
