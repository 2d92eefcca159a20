-- name: terms
-- What an active job may take, and when its batch begins, if it has one; last, whether its tenant
-- has a quota, and which regions serve its hosts.
SELECT number, max_pages, max_hosts, per_ip, settled, importance,
       CASE WHEN batch_number > 0 THEN batch_ready_s END,
       EXISTS (SELECT 1 FROM quotas WHERE quotas.tenant = %(tenant)s),
       regions
FROM jobs
WHERE id = %(job)s AND tenant = %(tenant)s AND is_active;

-- name: line_up
-- Let one claim at a time take from a job with a limit. 2: the class of these locks.
SELECT pg_advisory_xact_lock(2, hashint8(%(job)s::bigint));

-- name: room
-- What a job has settled, what is left of its batch, and what it holds, seen at one moment.
SELECT settled, batch_end - completed - failed - skipped - blocked, held.entries, held.hosts
FROM jobs
CROSS JOIN (
    SELECT COALESCE(SUM(leased), 0)::bigint AS entries, COUNT(*) AS hosts
    FROM hosts
    WHERE job = %(id)s AND is_lent AND lease_until_s > %(now_s)s
) AS held
WHERE number = %(job)s;

-- name: due_queues
-- The queues of a job that may be looked at, the longest waiting first, with their hosts; a host
-- that somebody holds just now is left out.
SELECT queues.number, queues.pending, queues.served_s,
       hosts.host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, hosts.job, leased, lease_until_s
FROM queues
JOIN hosts ON hosts.host = queues.host
WHERE queues.job = %(job)s AND queues.is_waiting AND queues.ready_s <= %(now_s)s
    AND queues.number <> ALL(%(looked)b::bigint[])
ORDER BY queues.ready_s, queues.host
LIMIT %(many)s
FOR UPDATE OF hosts SKIP LOCKED;

-- name: due_queues_of_label
-- The same of those queues whose regions have one label; last of each, since when it waits.
SELECT queues.number, queues.pending, queues.served_s,
       hosts.host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, hosts.job, leased, lease_until_s, queues.ready_s
FROM queues
JOIN hosts ON hosts.host = queues.host
WHERE queues.job = %(job)s AND queues.region = %(label)s AND queues.region IS NOT NULL
    AND queues.is_waiting AND queues.ready_s <= %(now_s)s
    AND queues.number <> ALL(%(looked)b::bigint[])
ORDER BY queues.ready_s, queues.host
LIMIT %(many)s
FOR UPDATE OF hosts SKIP LOCKED;

-- name: region
-- Where a worker is.
SELECT region FROM workers WHERE owner = %(owner)s;

-- name: unlabelled
-- Queues of a job whose regions nobody has looked up yet, and nobody does just now.
SELECT number, host FROM queues
WHERE job = %(job)s AND region = '?' AND region IS NOT NULL AND is_waiting
ORDER BY number
LIMIT %(many)s
FOR NO KEY UPDATE SKIP LOCKED;

-- name: label
-- Write down which regions serve queues, whose rows are locked.
UPDATE queues SET region = found.label
FROM unnest(%(queues)b::bigint[], %(labels)b::text[]) AS found (queue, label)
WHERE queues.number = found.queue;

-- name: rivals
-- Those of some queues whose host another active job waits for that was served less recently. What
-- waits is written `<> 0` here, so that the queues are found by their host and not by `ready_s`.
SELECT asked.queue
FROM unnest(%(queues)b::bigint[], %(hosts)b::text[], %(served_s)b::float8[])
    AS asked (queue, host, served_s)
WHERE EXISTS (
    SELECT 1
    FROM queues
    JOIN jobs ON jobs.number = queues.job
    WHERE queues.host = asked.host AND queues.pending <> 0 AND queues.ready_s <= %(now_s)s
        AND jobs.is_active AND (queues.served_s, queues.number) < (asked.served_s, asked.queue)
);

-- name: due_entries
-- The best entries of each queue: fresh ones, and those whose wait for another try is over. First
-- of each: its queue, whether the tenant has met it, and how many processes died while they had it
-- in hand. One look here spares three before a visit; EXISTS would read all pages of the tenant
-- where the planner takes them for few.
SELECT found.queue,
       COALESCE(
           (
               SELECT true FROM pages
               WHERE tenant = %(tenant)s AND pages.url_hash = found.url_hash
           ),
           (
               SELECT true FROM blocked_urls AS refused
               WHERE tenant = %(tenant)s AND refused.url_hash = found.url_hash
           ),
           false
       ),
       COALESCE(
           (
               SELECT deaths FROM suspects
               WHERE tenant = %(tenant)s AND suspects.kind = 'page' AND name = found.url_hash
           ),
           0
       ),
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM unnest(%(queues)b::bigint[]) WITH ORDINALITY AS asked (queue, place)
CROSS JOIN LATERAL (
    SELECT * FROM (
        (
            SELECT * FROM entries
            WHERE queue = asked.queue AND state = /* entry pending */ AND due_s = 0
            ORDER BY priority DESC, seq
            LIMIT %(many)s
        )
        UNION ALL
        (
            SELECT * FROM entries
            WHERE queue = asked.queue AND state = /* entry pending */
                AND due_s > 0 AND due_s <= %(now_s)s
            ORDER BY priority DESC, seq
            LIMIT %(many)s
        )
    ) AS due
    ORDER BY priority DESC, seq
    LIMIT %(many)s
) AS found
LEFT JOIN patterns
    ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
ORDER BY asked.place, priority DESC, seq;

-- name: first_due
-- When the first entry of each queue is due: 0 where a fresh one waits.
SELECT asked.queue, COALESCE(
    (
        SELECT due_s FROM entries
        WHERE queue = asked.queue AND state = /* entry pending */ AND due_s = 0
        LIMIT 1
    ),
    (
        SELECT MIN(due_s) FROM entries
        WHERE queue = asked.queue AND state = /* entry pending */ AND due_s > 0
    ),
    0.0
)
FROM unnest(%(queues)b::bigint[]) AS asked (queue);

-- name: lines
-- Since when jobs wait for addresses, of those that have asked of late.
SELECT ip, job, since_s
FROM lines
WHERE ip = ANY(%(ips)b::text[]) AND seen_s > %(late_s)s;

-- name: stand
-- A job waits for addresses, or still does.
INSERT INTO lines (ip, job, since_s, seen_s)
SELECT ip, %(job)s, %(now_s)s, %(now_s)s
FROM unnest(%(ips)b::text[]) AS full_ones (ip)
ORDER BY ip COLLATE "C"
ON CONFLICT (ip, job) DO UPDATE
SET since_s = CASE WHEN lines.seen_s > %(late_s)s THEN lines.since_s ELSE excluded.since_s END,
    seen_s = excluded.seen_s;

-- name: leave
-- A job has got its place at addresses.
DELETE FROM lines WHERE ip = ANY(%(ips)b::text[]) AND job = %(job)s;

-- name: turn
-- Queues were lent, or are looked at later; their rows are locked. One that has got new URLs since
-- it was looked at is not put off: they may be due.
UPDATE queues
SET ready_s = looked.ready_s, served_s = COALESCE(looked.served_s, queues.served_s)
FROM unnest(
    %(queues)b::bigint[], %(ready_s)b::float8[], %(served_s)b::float8[], %(pending)b::bigint[]
) AS looked (queue, ready_s, served_s, pending)
WHERE queues.number = looked.queue
    AND (looked.served_s IS NOT NULL OR queues.pending = looked.pending);
