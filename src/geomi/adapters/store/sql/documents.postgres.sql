-- name: put
-- Keep documents in place of those before under their ids.
INSERT INTO documents (tenant, /* columns */)
SELECT * FROM unnest(:tenant::text[], /* arrays */)
ON CONFLICT (tenant, id) DO UPDATE SET /* updates */;
