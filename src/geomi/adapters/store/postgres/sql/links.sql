-- name: queues
-- The queues of some hosts and jobs.
SELECT asked.job, asked.host, queues.number
FROM unnest(%(jobs)b::bigint[], %(hosts)b::text[]) AS asked (job, host)
JOIN queues ON queues.host = asked.host AND queues.job = asked.job;

-- name: new_queues
-- Open the queues of some hosts and jobs.
INSERT INTO queues (host, job, ready_s, region)
SELECT host, job, 0, (SELECT '?' FROM jobs WHERE number = asked.job AND regions <> '')
FROM unnest(%(jobs)b::bigint[], %(hosts)b::text[]) AS asked (job, host)
ORDER BY host COLLATE "C", job
ON CONFLICT DO NOTHING;

-- name: novel
-- The places of these URLs that are not there (true), or are farther away and may still come nearer
-- (false). Most links of a page are known, and what is known is not even answered. OFFSET keeps the
-- planner from joining in any other way than one by one.
SELECT asked.place, found.depth IS NULL
FROM unnest(%(queues)b::bigint[], %(hashes)b::bytea[], %(depths)b::bigint[])
    WITH ORDINALITY AS asked (queue, url_hash, depth, place)
LEFT JOIN LATERAL (
    SELECT depth, state, kind
    FROM entries
    WHERE entries.queue = asked.queue AND entries.url_hash = asked.url_hash
    OFFSET 0
) AS found ON true
WHERE found.depth IS NULL
    OR found.depth > asked.depth
    AND (
        found.state = /* entry pending */
        OR found.state IN (/* entry before reopen */) AND found.kind = 'page'
    )
ORDER BY asked.place;

-- name: turn
-- The number of this transaction in the order of all that add something.
SELECT nextval('turns');

-- name: insert
-- Put new URLs at the ends of their queues; one that another process has added meanwhile stays.
WITH added AS (
    INSERT INTO entries (
        queue, url_hash, url, depth, priority, source, kind, parent, origin, hops,
        nesting, pattern, lastmod_s, discovered_s, seq
    )
    SELECT *
    FROM unnest(
        %(queue)b::bigint[], %(url_hash)b::bytea[], %(url)b::text[], %(depth)b::integer[],
        %(priority)b::integer[], %(source)b::text[], %(kind)b::text[], %(parent)b::text[],
        %(origin)b::text[], %(hops)b::integer[], %(nesting)b::integer[], %(pattern)b::text[],
        %(lastmod_s)b::float8[], %(discovered_s)b::float8[], %(seq)b::bigint[]
    )
    ON CONFLICT DO NOTHING
    RETURNING queue
)
SELECT queue, COUNT(*) FROM added GROUP BY queue;

-- name: lock_entries
-- Some URLs, locked until the commit in the order of all.
SELECT 1
FROM (
    SELECT queue, url_hash
    FROM unnest(%(queues)b::bigint[], %(hashes)b::bytea[]) AS given (queue, url_hash)
    ORDER BY queue, url_hash
) AS asked
CROSS JOIN LATERAL (
    SELECT 1
    FROM entries
    WHERE entries.queue = asked.queue AND entries.url_hash = asked.url_hash
    FOR NO KEY UPDATE
) AS locked;

-- name: approach
-- Pending URLs were found again nearer to the seeds.
UPDATE entries SET depth = near.depth, priority = GREATEST(entries.priority, near.priority)
FROM unnest(
    %(queues)b::bigint[], %(hashes)b::bytea[], %(depths)b::integer[], %(priorities)b::integer[]
) AS near (queue, url_hash, depth, priority)
WHERE entries.queue = near.queue AND entries.url_hash = near.url_hash
    AND entries.state = /* entry pending */ AND entries.depth > near.depth;

-- name: reopen
-- Completed pages were found again nearer to the seeds: their links wait to be followed anew.
UPDATE entries
SET depth = near.depth, priority = GREATEST(entries.priority, near.priority),
    state = /* entry after reopen */, due_s = 0
FROM unnest(
    %(queues)b::bigint[], %(hashes)b::bytea[], %(depths)b::integer[], %(priorities)b::integer[]
) AS near (queue, url_hash, depth, priority)
WHERE entries.queue = near.queue AND entries.url_hash = near.url_hash
    AND entries.state IN (/* entry before reopen */) AND entries.kind = 'page'
    AND entries.depth > near.depth
RETURNING entries.queue;

-- name: reopen_all
-- The links of every completed page of a job wait to be followed anew.
WITH reopened AS (
    UPDATE entries SET state = /* entry after reopen */, due_s = 0
    FROM queues
    WHERE queues.job = %(job)s AND entries.queue = queues.number
        AND entries.state IN (/* entry before reopen */) AND entries.kind = 'page'
    RETURNING entries.queue
)
SELECT queue, COUNT(*) FROM reopened GROUP BY queue;

-- name: grow
-- New URLs wait in queues: each may be looked at as soon as its host is free.
UPDATE queues
SET ready_s = CASE pending
        WHEN 0 THEN GREATEST(found.found_s, hosts.next_s)
        ELSE LEAST(ready_s, GREATEST(found.found_s, hosts.next_s))
    END,
    pending = pending + found.new
FROM unnest(%(queues)b::bigint[], %(new)b::bigint[], %(found_s)b::float8[])
    AS found (queue, new, found_s), hosts
WHERE queues.number = found.queue AND hosts.host = queues.host;

-- name: regrow
-- Pages of queues were opened again.
UPDATE queues
SET ready_s = CASE pending WHEN 0 THEN hosts.next_s ELSE LEAST(ready_s, hosts.next_s) END,
    pending = pending + found.reopened
FROM unnest(%(queues)b::bigint[], %(reopened)b::bigint[]) AS found (queue, reopened), hosts
WHERE queues.number = found.queue AND hosts.host = queues.host;

-- name: count
-- A job has found new URLs, and completed pages of it were opened again.
UPDATE jobs
SET discovered = discovered + %(new)s, pending = pending + %(new)s + %(reopened)s,
    completed = completed - %(reopened)s
WHERE number = %(job)s;
