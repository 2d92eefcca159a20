-- name: line_up_to_open
-- Wait until whoever settles is done, and let nobody begin to: each has a part in this table, also
-- of a tenant that is not in it.
LOCK TABLE quotas IN SHARE ROW EXCLUSIVE MODE;

-- name: line_up_to_claim
-- Let one claim at a time take from a tenant with a quota. 4: the class of these locks.
SELECT pg_advisory_xact_lock(4, hashtext(:tenant));

-- name: room
-- In this order, whatever the planner knows of the tables.
WITH RECURSIVE holders (job) AS (
    SELECT (SELECT job FROM hosts WHERE is_lent AND job > '' ORDER BY job LIMIT 1)
    UNION ALL
    SELECT (SELECT job FROM hosts WHERE is_lent AND job > holders.job ORDER BY job LIMIT 1)
    FROM holders
    WHERE holders.job IS NOT NULL
)
SELECT max_concurrent_crawls, max_waiting, max_daily_pages, max_storage_bytes, stored_bytes,
       COALESCE((SELECT pages FROM quota_days WHERE tenant = :tenant AND day = :day), 0),
       (
           SELECT COALESCE(SUM(held.leased), 0)::bigint
           FROM holders
           CROSS JOIN LATERAL (
               SELECT id FROM jobs
               WHERE jobs.id = holders.job AND jobs.tenant = :tenant
               OFFSET 0
           ) AS own
           CROSS JOIN LATERAL (
               SELECT leased FROM hosts
               WHERE hosts.job = own.id AND is_lent AND lease_until_s > :now_s
               OFFSET 0
           ) AS held
       )
FROM quotas
WHERE tenant = :tenant;
