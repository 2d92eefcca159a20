-- name: terms
-- What an active job may take, and of its batch what is left, if it has one; last, whether its
-- tenant has a quota, and which regions serve its hosts.
SELECT number, max_pages, max_hosts, per_ip, settled, importance,
       CASE WHEN batch_number > 0 THEN batch_end - completed - failed - skipped - blocked END,
       batch_ready_s,
       EXISTS (SELECT 1 FROM quotas WHERE quotas.tenant = jobs.tenant),
       regions
FROM jobs
WHERE id = ? AND tenant = ? AND is_active;

-- name: due_queues
-- The queues of a job that may be looked at, the longest waiting first, with their hosts.
SELECT queues.number, queues.served_s,
       hosts.host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, hosts.job, leased, lease_until_s
FROM queues
CROSS JOIN hosts ON hosts.host = queues.host
WHERE queues.job = :job AND queues.pending > 0 AND queues.ready_s <= :now_s
ORDER BY queues.ready_s, queues.host
LIMIT :many;

-- name: due_queues_of_label
-- The same of those queues whose regions have one label; first of each, since when it waits.
SELECT queues.ready_s, queues.number, queues.served_s,
       hosts.host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, hosts.job, leased, lease_until_s
FROM queues
CROSS JOIN hosts ON hosts.host = queues.host
WHERE queues.job = :job AND queues.region = :label AND queues.region IS NOT NULL
    AND queues.pending > 0 AND queues.ready_s <= :now_s
ORDER BY queues.ready_s, queues.host
LIMIT :many;

-- name: region
-- Where a worker is.
SELECT region FROM workers WHERE owner = ?;

-- name: unlabelled
-- Queues of a job whose regions nobody has looked up yet.
SELECT number, host FROM queues
WHERE job = ? AND region = '?' AND region IS NOT NULL AND pending > 0
LIMIT ?;

-- name: label
-- Write down which regions serve a queue.
UPDATE queues SET region = ? WHERE number = ?;

-- name: rivals
-- How many other active jobs wait for a host and were served less recently than this queue.
SELECT COUNT(*)
FROM queues
CROSS JOIN jobs ON jobs.number = queues.job
WHERE queues.host = :host AND queues.pending > 0 AND queues.ready_s <= :now_s AND jobs.is_active
    AND (queues.served_s, queues.number) < (:served_s, :queue);

-- name: due_entries
-- The best entries of a queue: fresh ones, and those whose wait for another try is over. First of
-- each: whether the tenant has met it, and how many processes died while they had it in hand.
-- One look here spares three before every visit.
SELECT EXISTS (
           SELECT 1 FROM pages WHERE tenant = :tenant AND pages.url_hash = found.url_hash
       ) OR EXISTS (
           SELECT 1 FROM blocked_urls AS refused
           WHERE tenant = :tenant AND refused.url_hash = found.url_hash
       ),
       COALESCE(
           (
               SELECT deaths FROM suspects
               WHERE tenant = :tenant AND suspects.kind = 'page' AND name = found.url_hash
           ),
           0
       ),
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM (
    SELECT * FROM (
        SELECT * FROM entries
        WHERE queue = :queue AND state = /* entry pending */ AND due_s = 0
        ORDER BY priority DESC, seq
        LIMIT :many
    )
    UNION ALL
    SELECT * FROM (
        SELECT * FROM entries
        WHERE queue = :queue AND state = /* entry pending */ AND due_s > 0 AND due_s <= :now_s
        ORDER BY priority DESC, seq
        LIMIT :many
    )
) AS found
LEFT JOIN patterns ON patterns.queue = found.queue AND patterns.pattern = found.pattern
ORDER BY priority DESC, seq
LIMIT :many;

-- name: first_due
-- When the first entry of a queue is due: 0 where a fresh one waits.
SELECT CASE
    WHEN EXISTS (
        SELECT 1 FROM entries WHERE queue = :queue AND state = /* entry pending */ AND due_s = 0
    ) THEN 0.0
    ELSE (
        SELECT COALESCE(MIN(due_s), 0.0) FROM entries
        WHERE queue = :queue AND state = /* entry pending */ AND due_s > 0
    )
END;

-- name: line
-- Since when jobs wait for an address, of those that have asked of late.
SELECT job, since_s FROM lines WHERE ip = :ip AND seen_s > :late_s;

-- name: stand
-- A job waits for an address, or still does.
INSERT INTO lines (ip, job, since_s, seen_s) VALUES (:ip, :job, :now_s, :now_s)
ON CONFLICT DO UPDATE
SET since_s = CASE WHEN seen_s > :late_s THEN since_s ELSE excluded.since_s END,
    seen_s = excluded.seen_s;

-- name: leave
-- A job has got its place at an address.
DELETE FROM lines WHERE ip = :ip AND job = :job;

-- name: postpone
-- Look at a queue later.
UPDATE queues SET ready_s = :ready_s WHERE number = :queue;

-- name: serve
-- A queue was lent.
UPDATE queues SET ready_s = :ready_s, served_s = :now_s WHERE number = :queue;
