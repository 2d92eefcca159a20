-- name: active
-- The jobs of all tenants that workers may take up, oldest first; what the service finishes itself
-- is left to it.
SELECT tenant, id
FROM jobs
WHERE state NOT IN (/* job over */) AND is_active
    AND (state = /* job processing */ OR state = /* job finalizing */ AND collection = '')
ORDER BY created_at_s, number
LIMIT :many;

-- name: waiting
-- The service's jobs that have not come to their first page: the oldest of each tenant, then the
-- second of each, and so on.
SELECT tenant, id
FROM jobs
WHERE state NOT IN (/* job over */) AND is_active
    AND state IN (/* job pending */, /* job initializing */, /* job discovering */)
    AND collection <> ''
ORDER BY ROW_NUMBER() OVER (PARTITION BY tenant ORDER BY created_at_s, number),
         created_at_s, number
LIMIT :many;

-- name: finalizing
-- The service's jobs that have nothing left to fetch, oldest first.
SELECT tenant, id
FROM jobs
WHERE state NOT IN (/* job over */) AND is_active
    AND state = /* job finalizing */ AND collection <> ''
ORDER BY created_at_s, number
LIMIT :many;

-- name: watched
-- Watched crawls that are over and to be looked at, of the service or of the command line, the
-- longest due first.
SELECT tenant, id
FROM jobs
WHERE is_watched AND next_look_s <= :wall_s
    AND kind = 'crawl' AND state = /* job completed */ AND expired = ''
    AND (collection <> '') = :is_served
ORDER BY next_look_s, number
LIMIT :many;

-- name: tenant_of
-- Whose a job is.
SELECT tenant FROM jobs WHERE id = :job;

-- name: tenants
-- Everybody who has a job.
SELECT DISTINCT tenant FROM jobs ORDER BY tenant;
