-- name: put
-- Write the rank of a name; where a list names it twice, the better one.
INSERT INTO ranks (name, rank, edition) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE
SET rank = CASE
        WHEN ranks.edition = excluded.edition THEN MIN(ranks.rank, excluded.rank)
        ELSE excluded.rank
    END,
    edition = excluded.edition;

-- name: drop
-- Forget what another list said.
DELETE FROM ranks WHERE edition <> ?;

-- name: find
-- The rank of a name.
SELECT rank FROM ranks WHERE name = ?;

-- name: count
-- How many names have a rank.
SELECT COUNT(*) FROM ranks;
