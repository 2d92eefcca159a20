-- name: get
-- The newest robots.txt of an authority.
SELECT status, body, fetched_s, failure, detail, max_age_s, redirects
FROM robots
WHERE scheme = %(scheme)s AND host = %(host)s AND token = %(token)s;

-- name: put
-- Keep a robots.txt in place of the one before.
INSERT INTO robots (
    scheme, host, token, status, body, fetched_s, failure, detail, max_age_s, redirects
) VALUES (
    %(scheme)s, %(host)s, %(token)s, %(status)s, %(body)s, %(fetched_s)s, %(failure)s,
    %(detail)s, %(max_age_s)s, %(redirects)s
)
ON CONFLICT (host, scheme, token) DO UPDATE
SET status = excluded.status, body = excluded.body, fetched_s = excluded.fetched_s,
    failure = excluded.failure, detail = excluded.detail, max_age_s = excluded.max_age_s,
    redirects = excluded.redirects;

-- name: asked
-- A host has answered until then, also where its visit is never settled.
UPDATE hosts SET last_end_s = GREATEST(last_end_s, %(fetched_s)s) WHERE host = %(host)s;
