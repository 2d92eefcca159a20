-- name: histories
-- How pages changed.
SELECT histories.url_hash,
       visited_at_s, visits, changes, streak, watched_s, changed_at_s, gone_at_s, missed_at_s
FROM unnest(%(hashes)b::bytea[]) AS asked (url_hash)
JOIN histories ON histories.tenant = %(tenant)s AND histories.url_hash = asked.url_hash;

-- name: put_histories
-- Write how pages changed.
INSERT INTO histories (
    url_hash, visited_at_s, visits, changes, streak, watched_s,
    changed_at_s, gone_at_s, missed_at_s, tenant
)
SELECT new.*, %(tenant)s
FROM unnest(
    %(url_hash)b::bytea[], %(visited_at_s)b::float8[], %(visits)b::integer[],
    %(changes)b::integer[], %(streak)b::integer[], %(watched_s)b::float8[],
    %(changed_at_s)b::float8[], %(gone_at_s)b::float8[], %(missed_at_s)b::float8[]
) AS new
ON CONFLICT (tenant, url_hash) DO UPDATE
SET visited_at_s = excluded.visited_at_s, visits = excluded.visits, changes = excluded.changes,
    streak = excluded.streak, watched_s = excluded.watched_s,
    changed_at_s = excluded.changed_at_s, gone_at_s = excluded.gone_at_s,
    missed_at_s = excluded.missed_at_s;

-- name: put_dues
-- Pages that were not kept this time are due later.
UPDATE pages
SET due_s = new.due_s
FROM unnest(%(url_hash)b::bytea[], %(due_s)b::float8[]) AS new (url_hash, due_s)
WHERE pages.tenant = %(tenant)s AND pages.url_hash = new.url_hash;

-- name: pools
-- What pages of hosts have told together.
SELECT pools.host, pools.pattern, changes, watched_s, found, expected, at_s
FROM unnest(%(hosts)b::text[], %(patterns)b::text[]) AS asked (host, pattern)
JOIN pools
    ON pools.tenant = %(tenant)s AND pools.host = asked.host AND pools.pattern = asked.pattern;

-- name: put_pools
-- Write what they have told.
INSERT INTO pools (host, pattern, changes, watched_s, found, expected, at_s, tenant)
SELECT new.*, %(tenant)s
FROM unnest(
    %(host)b::text[], %(pattern)b::text[], %(changes)b::float8[], %(watched_s)b::float8[],
    %(found)b::float8[], %(expected)b::float8[], %(at_s)b::float8[]
) AS new
ON CONFLICT (tenant, host, pattern) DO UPDATE
SET changes = excluded.changes, watched_s = excluded.watched_s, found = excluded.found,
    expected = excluded.expected, at_s = excluded.at_s;

-- name: put_version
-- Keep what a page was before.
INSERT INTO versions (tenant, url_hash, content_hash, seen_s)
VALUES (%(tenant)s, %(url_hash)s, %(content_hash)s, %(seen_s)s)
ON CONFLICT (tenant, url_hash, seen_s) DO UPDATE SET content_hash = excluded.content_hash;

-- name: forget_versions
-- Forget what a page was long ago.
DELETE FROM versions
WHERE tenant = %(tenant)s AND url_hash = %(url_hash)s AND seen_s <= (
    SELECT seen_s FROM versions
    WHERE tenant = %(tenant)s AND url_hash = %(url_hash)s
    ORDER BY seen_s DESC
    LIMIT 1 OFFSET %(kept)s
);

-- name: versions
-- What a page was before, the newest first.
SELECT content_hash, seen_s
FROM versions
WHERE tenant = %(tenant)s AND url_hash = %(url_hash)s
ORDER BY seen_s DESC
LIMIT %(many)s;

-- name: runs
-- The jobs of a crawl, the first of which it is named by.
SELECT id
FROM jobs
WHERE tenant = %(tenant)s AND (id = %(crawl)s OR crawl = %(crawl)s)
ORDER BY number;

-- name: standings
-- Pages that a job collected and met first, queue by queue.
SELECT entries.queue, entries.url_hash, entries.url, queues.host, entries.depth,
       pages.fetched_at_s, pages.due_s,
       visited_at_s, visits, changes, streak, watched_s, changed_at_s, gone_at_s, missed_at_s
FROM queues
JOIN entries ON entries.queue = queues.number
JOIN pages ON pages.tenant = %(tenant)s AND pages.url_hash = entries.url_hash
LEFT JOIN histories
    ON histories.tenant = %(tenant)s AND histories.url_hash = entries.url_hash
WHERE queues.job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
    AND queues.number >= %(queue)s
    AND (entries.queue, entries.url_hash) > (%(queue)s, %(after)s)
    AND entries.kind = 'page' AND entries.state = 'completed' AND entries.source <> 'revisit'
ORDER BY entries.queue, entries.url_hash
LIMIT %(many)s;

-- name: met
-- When URLs were last collected; 0 where the first job of a crawl has asked for one in vain.
SELECT asked.url_hash,
       COALESCE(
           (
               SELECT fetched_at_s FROM pages
               WHERE pages.tenant = %(tenant)s AND pages.url_hash = asked.url_hash
           ),
           0
       )
FROM unnest(%(hashes)b::bytea[], %(hosts)b::text[]) AS asked (url_hash, host)
WHERE EXISTS (
        SELECT 1 FROM pages
        WHERE pages.tenant = %(tenant)s AND pages.url_hash = asked.url_hash
    )
    OR EXISTS (
        SELECT 1
        FROM queues
        JOIN entries ON entries.queue = queues.number
        WHERE queues.host = asked.host AND entries.url_hash = asked.url_hash
            AND queues.job = (
                SELECT number FROM jobs WHERE id = %(crawl)s AND tenant = %(tenant)s
            )
    );

-- name: take
-- Take or keep the right to sweep a crawl, unless somebody else has it.
INSERT INTO sweeps (tenant, crawl, owner, until_s)
VALUES (%(tenant)s, %(crawl)s, %(owner)s, %(until_s)s)
ON CONFLICT (tenant, crawl) DO UPDATE SET owner = excluded.owner, until_s = excluded.until_s
WHERE sweeps.owner = excluded.owner OR sweeps.until_s <= %(now_s)s;

-- name: end
-- Give the right to sweep a crawl back.
DELETE FROM sweeps
WHERE tenant = %(tenant)s AND crawl = %(crawl)s AND owner = %(owner)s;
