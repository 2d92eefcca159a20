-- name: list
-- A tenant's decisions about hosts.
SELECT /* columns */
FROM site_rules
WHERE tenant = :tenant
ORDER BY host, pattern;

-- name: put
-- Keep a decision in place of the one before.
INSERT INTO site_rules (tenant, /* columns */) VALUES (:tenant, /* values */)
ON CONFLICT (tenant, host, pattern) DO UPDATE SET /* updates */;

-- name: remove
-- Forget a decision.
DELETE FROM site_rules WHERE tenant = :tenant AND host = :host AND pattern = :pattern;
