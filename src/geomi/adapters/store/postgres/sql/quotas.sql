-- name: limit
-- Write what a tenant may use that has a row.
UPDATE quotas
SET max_concurrent_crawls = %(max_concurrent_crawls)s, max_waiting = %(max_waiting)s,
    max_daily_pages = %(max_daily_pages)s, max_storage_bytes = %(max_storage_bytes)s
WHERE tenant = %(tenant)s;

-- name: line_up
-- Wait until whoever settles is done, and let nobody begin to: each has a part in this table, also
-- of a tenant that is not in it.
LOCK TABLE quotas IN SHARE ROW EXCLUSIVE MODE;

-- name: open
-- Write what a tenant may use that has no row; what the archive keeps for it is counted now.
INSERT INTO quotas (
    tenant, max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes
)
SELECT %(tenant)s, %(max_concurrent_crawls)s, %(max_waiting)s, %(max_daily_pages)s,
       %(max_storage_bytes)s, COALESCE(SUM(record_length + COALESCE(response_length, 0)), 0)
FROM jobs
JOIN captures ON captures.job = jobs.number
WHERE jobs.tenant = %(tenant)s
ON CONFLICT (tenant) DO NOTHING;

-- name: standing
-- What a tenant may use, and has used on a day.
SELECT max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes,
       COALESCE((SELECT pages FROM quota_days WHERE tenant = %(tenant)s AND day = %(day)s), 0)
FROM quotas
WHERE tenant = %(tenant)s;

-- name: claim_one
-- Let one claim at a time take from a tenant with a quota. 4: the class of these locks.
SELECT pg_advisory_xact_lock(4, hashtext(%(tenant)s));

-- name: room
-- The same, and how many entries of all its jobs are lent and not settled, seen at one moment. Hosts
-- are found by their job: one step for each job that holds any, whosoever it is, in this order,
-- whatever the planner knows of the tables.
WITH RECURSIVE holders (job) AS (
    SELECT (SELECT job FROM hosts WHERE is_lent AND job > '' ORDER BY job LIMIT 1)
    UNION ALL
    SELECT (SELECT job FROM hosts WHERE is_lent AND job > holders.job ORDER BY job LIMIT 1)
    FROM holders
    WHERE holders.job IS NOT NULL
)
SELECT max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes,
       COALESCE((SELECT pages FROM quota_days WHERE tenant = %(tenant)s AND day = %(day)s), 0),
       (
           SELECT COALESCE(SUM(held.leased), 0)::bigint
           FROM holders
           CROSS JOIN LATERAL (
               SELECT id FROM jobs
               WHERE jobs.id = holders.job AND jobs.tenant = %(tenant)s
               OFFSET 0
           ) AS own
           CROSS JOIN LATERAL (
               SELECT leased FROM hosts
               WHERE hosts.job = own.id AND is_lent AND lease_until_s > %(now_s)s
               OFFSET 0
           ) AS held
       )
FROM quotas
WHERE tenant = %(tenant)s;

-- name: use
-- Pages were taken for a tenant on a day, and the archive keeps more for it; nothing where it has no
-- quota.
WITH counted AS (
    UPDATE quotas SET stored_bytes = stored_bytes + %(bytes)s
    WHERE tenant = %(tenant)s
    RETURNING tenant
)
INSERT INTO quota_days (pages, tenant, day)
SELECT %(pages)s, tenant, %(day)s FROM counted
ON CONFLICT (tenant, day) DO UPDATE SET pages = quota_days.pages + excluded.pages;

-- name: give_back
-- The archive keeps less for tenants.
UPDATE quotas SET stored_bytes = stored_bytes - gone.bytes
FROM unnest(%(tenants)b::text[], %(bytes)b::bigint[]) AS gone (tenant, bytes)
WHERE quotas.tenant = gone.tenant;
