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
