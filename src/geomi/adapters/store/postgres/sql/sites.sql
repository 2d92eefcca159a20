-- name: refusal
-- A refusal of a URL that still holds.
SELECT url_hash, url, status, reason, since_s, until_s
FROM blocked_urls
WHERE tenant = %(tenant)s AND url_hash = %(url_hash)s
    AND (until_s IS NULL OR until_s > %(wall_s)s);

-- name: refusals
-- A tenant's refusals in the order of their hashes.
SELECT url_hash, url, status, reason, since_s, until_s
FROM blocked_urls
WHERE tenant = %(tenant)s AND url_hash > %(after)s
ORDER BY url_hash
LIMIT %(many)s;

-- name: refuse
-- Keep refusals in place of those before.
INSERT INTO blocked_urls (tenant, url_hash, url, status, reason, since_s, until_s)
SELECT *
FROM unnest(
    %(tenant)b::text[], %(url_hash)b::bytea[], %(url)b::text[], %(status)b::integer[],
    %(reason)b::text[], %(since_s)b::float8[], %(until_s)b::float8[]
)
ON CONFLICT (tenant, url_hash) DO UPDATE
SET url = excluded.url, status = excluded.status, reason = excluded.reason,
    since_s = excluded.since_s, until_s = excluded.until_s;

-- name: forgive
-- Forget a refusal.
DELETE FROM blocked_urls WHERE tenant = %(tenant)s AND url_hash = %(url_hash)s;

-- name: rules
-- A tenant's decisions about hosts.
SELECT host, pattern, review, note, since_s
FROM site_rules
WHERE tenant = %(tenant)s
ORDER BY host, pattern;

-- name: put_rule
-- Keep a decision in place of the one before.
INSERT INTO site_rules (tenant, host, pattern, review, note, since_s)
VALUES (%(tenant)s, %(host)s, %(pattern)s, %(review)s, %(note)s, %(since_s)s)
ON CONFLICT (tenant, host, pattern) DO UPDATE
SET review = excluded.review, note = excluded.note, since_s = excluded.since_s;

-- name: forget_rule
-- Forget a decision.
DELETE FROM site_rules
WHERE tenant = %(tenant)s AND host = %(host)s AND pattern = %(pattern)s;
