-- name: history
-- How a page changed.
SELECT url_hash, /* columns */ FROM histories WHERE tenant = :tenant AND url_hash = :url_hash;

-- name: put_history
-- Write how a page changed.
INSERT INTO histories (tenant, url_hash, /* columns */)
VALUES (:tenant, :url_hash, /* values */)
ON CONFLICT (tenant, url_hash) DO UPDATE SET /* updates */;

-- name: put_due
-- A page that was not kept this time is due later.
UPDATE pages SET due_s = :due_s WHERE tenant = :tenant AND url_hash = :url_hash;

-- name: pool
-- What pages of a host have told together.
SELECT host, pattern, changes, watched_s, found, expected, at_s
FROM pools
WHERE tenant = :tenant AND host = :host AND pattern = :pattern;

-- name: put_pool
-- Write what they have told.
INSERT INTO pools (tenant, host, pattern, changes, watched_s, found, expected, at_s)
VALUES (:tenant, :host, :pattern, :changes, :watched_s, :found, :expected, :at_s)
ON CONFLICT (tenant, host, pattern) DO UPDATE
SET changes = excluded.changes, watched_s = excluded.watched_s, found = excluded.found,
    expected = excluded.expected, at_s = excluded.at_s;

-- name: put_version
-- Keep what a page was before.
INSERT INTO versions (tenant, url_hash, content_hash, seen_s)
VALUES (:tenant, :url_hash, :content_hash, :seen_s)
ON CONFLICT (tenant, url_hash, seen_s) DO UPDATE SET content_hash = excluded.content_hash;

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
WHERE tenant = :tenant AND url_hash = :url_hash
ORDER BY seen_s DESC
LIMIT :many;

-- name: runs
-- The jobs of a crawl, the first of which it is named by.
SELECT id FROM jobs WHERE tenant = :tenant AND (id = :crawl OR crawl = :crawl) ORDER BY number;

-- name: standings
-- Pages that a job collected and met first, queue by queue.
SELECT entries.queue, entries.url_hash, entries.url, queues.host, entries.depth,
       pages.fetched_at_s, pages.due_s, /* columns */
FROM queues
CROSS JOIN entries ON entries.queue = queues.number
CROSS JOIN pages ON pages.tenant = :tenant AND pages.url_hash = entries.url_hash
LEFT JOIN histories ON histories.tenant = :tenant AND histories.url_hash = entries.url_hash
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.number >= :queue
    AND (entries.queue, entries.url_hash) > (:queue, :after)
    AND entries.kind = 'page' AND entries.state = /* entry completed */
    AND entries.source <> 'revisit'
ORDER BY entries.queue, entries.url_hash
LIMIT :many;

-- name: present
-- How many pages the jobs of a crawl collected that were there at their last visits.
SELECT count(DISTINCT entries.url_hash)
FROM jobs
CROSS JOIN queues
CROSS JOIN entries
LEFT JOIN histories ON histories.tenant = :tenant AND histories.url_hash = entries.url_hash
WHERE queues.job = jobs.number AND entries.queue = queues.number
    AND jobs.tenant = :tenant AND (jobs.id = :crawl OR jobs.crawl = :crawl)
    AND entries.kind = 'page' AND entries.state = /* entry completed */
    AND (histories.left_at_s IS NULL OR histories.returned_at_s >= histories.left_at_s);

-- name: met
-- When a URL was last collected; 0 where the first job of a crawl has asked for it in vain.
SELECT :url_hash, COALESCE(
    (SELECT fetched_at_s FROM pages WHERE tenant = :tenant AND url_hash = :url_hash),
    (
        SELECT 0.0
        FROM queues
        CROSS JOIN entries ON entries.queue = queues.number
        WHERE queues.host = :host AND entries.url_hash = :url_hash
            AND queues.job = (SELECT number FROM jobs WHERE id = :crawl AND tenant = :tenant)
    )
);

-- name: take_sweep
-- Take or keep the right to sweep a crawl, unless somebody else has it.
INSERT INTO sweeps (tenant, crawl, owner, until_s) VALUES (:tenant, :crawl, :owner, :until_s)
ON CONFLICT (tenant, crawl) DO UPDATE SET owner = excluded.owner, until_s = excluded.until_s
WHERE sweeps.owner = excluded.owner OR sweeps.until_s <= :now_s;

-- name: end_sweep
-- Give the right to sweep a crawl back.
DELETE FROM sweeps WHERE tenant = :tenant AND crawl = :crawl AND owner = :owner;
