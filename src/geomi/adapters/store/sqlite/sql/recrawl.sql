-- name: history
-- How a page changed.
SELECT visited_at_s, visits, changes, streak, watched_s, changed_at_s, gone_at_s, missed_at_s
FROM histories
WHERE tenant = ? AND url_hash = ?;

-- name: put_history
-- Write how a page changed.
INSERT OR REPLACE INTO histories (
    tenant, url_hash, visited_at_s, visits, changes, streak, watched_s,
    changed_at_s, gone_at_s, missed_at_s
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_due
-- A page that was not kept this time is due later.
UPDATE pages SET due_s = ? WHERE tenant = ? AND url_hash = ?;

-- name: pool
-- What pages of a host have told together.
SELECT changes, watched_s, found, expected, at_s
FROM pools
WHERE tenant = ? AND host = ? AND pattern = ?;

-- name: put_pool
-- Write what they have told.
INSERT OR REPLACE INTO pools (
    tenant, host, pattern, changes, watched_s, found, expected, at_s
) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_version
-- Keep what a page was before.
INSERT OR REPLACE INTO versions (tenant, url_hash, content_hash, seen_s) VALUES (?, ?, ?, ?);

-- name: forget_versions
-- Forget what a page was long ago.
DELETE FROM versions
WHERE tenant = :tenant AND url_hash = :url_hash AND seen_s <= (
    SELECT seen_s FROM versions
    WHERE tenant = :tenant AND url_hash = :url_hash
    ORDER BY seen_s DESC
    LIMIT 1 OFFSET :kept
);

-- name: versions
-- What a page was before, the newest first.
SELECT content_hash, seen_s
FROM versions
WHERE tenant = ? AND url_hash = ?
ORDER BY seen_s DESC
LIMIT ?;

-- name: runs
-- The jobs of a crawl, the first of which it is named by.
SELECT id FROM jobs WHERE tenant = :tenant AND (id = :crawl OR crawl = :crawl) ORDER BY number;

-- name: standings
-- Pages that a job collected and met first, queue by queue.
SELECT entries.queue, entries.url_hash, entries.url, queues.host, entries.depth,
       pages.fetched_at_s, pages.due_s,
       visited_at_s, visits, changes, streak, watched_s, changed_at_s, gone_at_s, missed_at_s
FROM queues
CROSS JOIN entries ON entries.queue = queues.number
CROSS JOIN pages ON pages.tenant = :tenant AND pages.url_hash = entries.url_hash
LEFT JOIN histories ON histories.tenant = :tenant AND histories.url_hash = entries.url_hash
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.number >= :queue
    AND (entries.queue, entries.url_hash) > (:queue, :after)
    AND entries.kind = 'page' AND entries.state = 'completed' AND entries.source <> 'revisit'
ORDER BY entries.queue, entries.url_hash
LIMIT :many;

-- name: met
-- When a URL was last collected; 0 where the first job of a crawl has asked for it in vain.
SELECT COALESCE(
    (SELECT fetched_at_s FROM pages WHERE tenant = :tenant AND url_hash = :url_hash),
    (
        SELECT 0.0
        FROM queues
        CROSS JOIN entries ON entries.queue = queues.number
        WHERE queues.host = :host AND entries.url_hash = :url_hash
            AND queues.job = (SELECT number FROM jobs WHERE id = :crawl AND tenant = :tenant)
    )
);

-- name: take
-- Take or keep the right to sweep a crawl, unless somebody else has it.
INSERT INTO sweeps (tenant, crawl, owner, until_s) VALUES (:tenant, :crawl, :owner, :until_s)
ON CONFLICT (tenant, crawl) DO UPDATE SET owner = excluded.owner, until_s = excluded.until_s
WHERE sweeps.owner = excluded.owner OR sweeps.until_s <= :now_s;

-- name: end
-- Give the right to sweep a crawl back.
DELETE FROM sweeps WHERE tenant = :tenant AND crawl = :crawl AND owner = :owner;
