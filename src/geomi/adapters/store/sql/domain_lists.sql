-- name: list
-- All lists, without what they name.
SELECT /* columns */ FROM domain_lists ORDER BY name;

-- name: body
-- What a list names.
SELECT body FROM domain_lists WHERE name = :name;

-- name: put
-- Keep a list in place of the one before.
INSERT INTO domain_lists (/* columns */, body) VALUES (/* values */, :body)
ON CONFLICT (name) DO UPDATE
SET /* updates */, body = excluded.body;

-- name: update
-- Keep what a refresh brought, of a list that is still there.
UPDATE domain_lists
SET domains = :domains, edition = :edition, read_s = :read_s, answered_url = :answered_url,
    answered_tag = :answered_tag, answered_date = :answered_date, problem = :problem,
    body = COALESCE(:body, body)
WHERE name = :name AND source = :source;

-- name: take
-- Take the turn to refresh a list; of several processes one changes the row.
UPDATE domain_lists SET tried_s = :now_s WHERE name = :name AND tried_s = :seen_s;

-- name: remove
-- Forget a list.
DELETE FROM domain_lists WHERE name = :name;
