-- name: limit
-- Write what a tenant may use that has a row.
UPDATE quotas
SET max_concurrent_crawls = :max_concurrent_crawls, max_waiting = :max_waiting,
    max_daily_pages = :max_daily_pages, max_storage_bytes = :max_storage_bytes
WHERE tenant = :tenant;

-- name: line_up_to_open
-- SQLite's writers stand in one line anyway.
SELECT 1;

-- name: open
-- Write what a tenant may use that has no row; what the archive keeps for it is counted now.
INSERT INTO quotas (
    tenant, max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes
)
SELECT :tenant, :max_concurrent_crawls, :max_waiting, :max_daily_pages, :max_storage_bytes,
       COALESCE(SUM(record_length + COALESCE(response_length, 0)), 0)
FROM captures
WHERE captures.job IN (SELECT number FROM jobs WHERE tenant = :tenant)
ON CONFLICT (tenant) DO NOTHING;

-- name: standing
-- What a tenant may use, and has used on a day.
SELECT max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes,
       COALESCE((SELECT pages FROM quota_days WHERE tenant = :tenant AND day = :day), 0)
FROM quotas
WHERE tenant = :tenant;

-- name: line_up_to_claim
-- SQLite's writers stand in one line anyway.
SELECT 1;

-- name: room
-- The same, and how many entries of all its jobs are lent and not settled, seen at one moment. Hosts
-- are found by their job: one step for each job that holds any, whosoever it is.
WITH RECURSIVE holders (job) AS (
    SELECT (
        SELECT job FROM hosts WHERE lease_until_s > 0 AND job > '' ORDER BY job LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT job FROM hosts WHERE lease_until_s > 0 AND job > holders.job ORDER BY job LIMIT 1
    )
    FROM holders
    WHERE holders.job IS NOT NULL
)
SELECT max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes,
       COALESCE((SELECT pages FROM quota_days WHERE tenant = :tenant AND day = :day), 0),
       (
           SELECT COALESCE(SUM(hosts.leased), 0)
           FROM holders
           CROSS JOIN jobs ON jobs.id = holders.job
           CROSS JOIN hosts ON hosts.job = holders.job
           WHERE jobs.tenant = :tenant
               AND hosts.lease_until_s > 0 AND hosts.lease_until_s > :now_s
       )
FROM quotas
WHERE tenant = :tenant;

-- name: store
-- The archive keeps more for a tenant, or less; nothing is counted where it has no quota.
UPDATE quotas SET stored_bytes = stored_bytes + :bytes WHERE tenant = :tenant;

-- name: take
-- Pages were taken for a tenant on a day; nothing is counted where it has no quota.
INSERT INTO quota_days (tenant, day, pages)
SELECT tenant, :day, :pages FROM quotas WHERE tenant = :tenant
ON CONFLICT (tenant, day) DO UPDATE SET pages = quota_days.pages + excluded.pages;
