-- name: find
-- A refusal of a URL that still holds.
SELECT /* columns */
FROM blocked_urls
WHERE tenant = :tenant AND url_hash = :url_hash AND (until_s IS NULL OR until_s > :wall_s);

-- name: list
-- A tenant's refusals in the order of their hashes.
SELECT /* columns */
FROM blocked_urls
WHERE tenant = :tenant AND url_hash > :after
ORDER BY url_hash
LIMIT :many;

-- name: put
-- Keep a refusal in place of the one before.
INSERT INTO blocked_urls (tenant, /* columns */) VALUES (:tenant, /* values */)
ON CONFLICT (tenant, url_hash) DO UPDATE SET /* updates */;

-- name: remove
-- Forget a refusal.
DELETE FROM blocked_urls WHERE tenant = :tenant AND url_hash = :url_hash;
