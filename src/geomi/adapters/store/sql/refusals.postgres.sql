-- name: put
-- Keep refusals in place of those before.
INSERT INTO blocked_urls (tenant, /* columns */)
SELECT * FROM unnest(:tenant::text[], /* arrays */)
ON CONFLICT (tenant, url_hash) DO UPDATE SET /* updates */;
