-- name: put
-- The same for a whole list: one name after the other takes twenty times as long.
INSERT INTO ranks (name, rank, edition)
SELECT name, MIN(rank), MIN(edition)
FROM unnest(:name::text[], :rank::bigint[], :edition::bigint[]) AS listed (name, rank, edition)
GROUP BY name
ORDER BY name COLLATE "C"
ON CONFLICT (name) DO UPDATE
SET rank = CASE
        WHEN ranks.edition = excluded.edition AND ranks.rank < excluded.rank THEN ranks.rank
        ELSE excluded.rank
    END,
    edition = excluded.edition;
