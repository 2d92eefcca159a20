-- name: put
-- Write the rank of a name; where a list names it twice, the better one.
INSERT INTO ranks (name, rank, edition) VALUES (:name, :rank, :edition)
ON CONFLICT (name) DO UPDATE
SET rank = CASE
        WHEN ranks.edition = excluded.edition AND ranks.rank < excluded.rank THEN ranks.rank
        ELSE excluded.rank
    END,
    edition = excluded.edition;

-- name: drop
-- Forget what another list said.
DELETE FROM ranks WHERE edition <> :edition;

-- name: find
-- The rank of a name.
SELECT name, rank FROM ranks WHERE name = :name;

-- name: count
-- How many names have a rank.
SELECT COUNT(*) FROM ranks;
