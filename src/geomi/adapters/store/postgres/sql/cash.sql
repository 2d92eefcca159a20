-- name: terms
-- What a job's row says about settling its visits.
SELECT number, importance, root, pending,
       max_queued, max_queued_per_host, max_queued_per_pattern
FROM jobs
WHERE id = %(job)s AND tenant = %(tenant)s;

-- name: others
-- How many URLs of other jobs wait; those of a job that is over wait for nothing.
SELECT COALESCE(SUM(pending), 0)::bigint
FROM jobs
WHERE state NOT IN (/* job over */) AND number <> %(number)s;

-- name: purses
-- What some URLs hold, and whether they wait.
SELECT found.*
FROM unnest(%(queues)b::bigint[], %(hashes)b::bytea[]) AS asked (queue, url_hash)
CROSS JOIN LATERAL (
    SELECT queue, url_hash, cash, priority, state = /* entry pending */
    FROM entries
    WHERE entries.queue = asked.queue AND entries.url_hash = asked.url_hash
    OFFSET 0
) AS found;

-- name: give
-- What URLs hold now; they are locked.
UPDATE entries SET cash = purse.cash, priority = purse.priority
FROM unnest(
    %(queues)b::bigint[], %(hashes)b::bytea[], %(cash)b::float8[], %(priorities)b::integer[]
) AS purse (queue, url_hash, cash, priority)
WHERE entries.queue = purse.queue AND entries.url_hash = purse.url_hash;

-- name: to_root
-- The virtual root of a job has more, or less.
UPDATE jobs SET root = GREATEST(0.0, root + %(more)s) WHERE number = %(job)s;

-- name: lift
-- Put the URL of each queue that has waited longest before all others; one that somebody changes
-- just now is passed over.
UPDATE entries SET priority = priority + %(lift)s
FROM (
    SELECT found.*
    FROM unnest(%(queues)b::bigint[]) AS asked (queue)
    CROSS JOIN LATERAL (
        SELECT queue, url_hash
        FROM entries
        WHERE queue = asked.queue AND state = /* entry pending */ AND cash IS NOT NULL
            AND due_s <= %(now_s)s
        ORDER BY seq
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS found
) AS oldest
WHERE entries.queue = oldest.queue AND entries.url_hash = oldest.url_hash
    AND entries.priority < %(lift)s;

-- name: in_queues
-- How many URLs wait in some queues.
SELECT number, pending FROM queues WHERE number = ANY(%(queues)b::bigint[]);

-- name: in_patterns
-- How many URLs of some patterns wait, counted no further than a limit.
SELECT asked.queue, asked.pattern, (
    SELECT COUNT(*) FROM (
        SELECT 1 FROM entries
        WHERE entries.queue = asked.queue AND md5(entries.pattern) = md5(asked.pattern)
            AND entries.state = /* entry pending */ AND entries.pattern IS NOT NULL
        LIMIT %(most)s
    ) AS waiting
)
FROM unnest(%(queues)b::bigint[], %(patterns)b::text[]) AS asked (queue, pattern);
