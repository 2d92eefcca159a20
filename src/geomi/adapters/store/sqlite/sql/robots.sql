-- name: get
-- The newest robots.txt of an authority.
SELECT status, body, fetched_s, failure, detail, max_age_s, redirects
FROM robots
WHERE scheme = ? AND host = ? AND token = ?;

-- name: put
-- Keep a robots.txt in place of the one before.
INSERT OR REPLACE INTO robots (
    scheme, host, token, status, body, fetched_s, failure, detail, max_age_s, redirects
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: asked
-- A host has answered until then, also where its visit is never settled.
UPDATE hosts SET last_end_s = MAX(last_end_s, ?) WHERE host = ?;
