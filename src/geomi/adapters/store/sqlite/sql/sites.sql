-- name: refusal
-- A refusal of a URL that still holds.
SELECT url_hash, url, status, reason, since_s, until_s
FROM blocked_urls
WHERE tenant = :tenant AND url_hash = :url_hash AND (until_s IS NULL OR until_s > :wall_s);

-- name: refusals
-- A tenant's refusals in the order of their hashes.
SELECT url_hash, url, status, reason, since_s, until_s
FROM blocked_urls
WHERE tenant = :tenant AND url_hash > :after
ORDER BY url_hash
LIMIT :many;

-- name: refuse
-- Keep a refusal in place of the one before.
INSERT OR REPLACE INTO blocked_urls (tenant, url_hash, url, status, reason, since_s, until_s)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: forgive
-- Forget a refusal.
DELETE FROM blocked_urls WHERE tenant = ? AND url_hash = ?;

-- name: rules
-- A tenant's decisions about hosts.
SELECT host, pattern, review, note, since_s
FROM site_rules
WHERE tenant = ?
ORDER BY host, pattern;

-- name: put_rule
-- Keep a decision in place of the one before.
INSERT OR REPLACE INTO site_rules (tenant, host, pattern, review, note, since_s)
VALUES (?, ?, ?, ?, ?, ?);

-- name: forget_rule
-- Forget a decision.
DELETE FROM site_rules WHERE tenant = ? AND host = ? AND pattern = ?;
