-- name: limit
-- Write what a tenant may use that has a row.
UPDATE quotas
SET max_concurrent_crawls = :max_concurrent_crawls, max_waiting = :max_waiting,
    max_daily_pages = :max_daily_pages, max_storage_bytes = :max_storage_bytes
WHERE tenant = :tenant;

-- name: open
-- Write what a tenant may use that has none; what the archive keeps for it is counted now.
INSERT INTO quotas (
    tenant, max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes
) VALUES (
    :tenant, :max_concurrent_crawls, :max_waiting, :max_daily_pages, :max_storage_bytes,
    (
        SELECT COALESCE(SUM(record_length + COALESCE(response_length, 0)), 0)
        FROM jobs
        CROSS JOIN captures ON captures.job = jobs.number
        WHERE jobs.tenant = :tenant
    )
);

-- name: standing
-- What a tenant may use, and has used on a day.
SELECT max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes,
       COALESCE((SELECT pages FROM quota_days WHERE tenant = :tenant AND day = :day), 0)
FROM quotas
WHERE tenant = :tenant;

-- name: lent
-- How many entries of all jobs of a tenant are lent and not settled. Hosts are found by their job:
-- one step for each job that holds any, whosoever it is.
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
SELECT COALESCE(SUM(hosts.leased), 0)
FROM holders
CROSS JOIN jobs ON jobs.id = holders.job
CROSS JOIN hosts ON hosts.job = holders.job
WHERE jobs.tenant = :tenant AND hosts.lease_until_s > 0 AND hosts.lease_until_s > :now_s;

-- name: store
-- The archive keeps more for a tenant, or less.
UPDATE quotas SET stored_bytes = stored_bytes + :bytes WHERE tenant = :tenant;

-- name: take
-- Pages were taken for a tenant on a day.
INSERT INTO quota_days (tenant, day, pages) VALUES (:tenant, :day, :pages)
ON CONFLICT (tenant, day) DO UPDATE SET pages = pages + excluded.pages;
