-- name: counts
-- How many entries of a job are in each state.
SELECT number, is_active, max_pages, max_hosts, settled, pending, completed, failed, skipped, blocked
FROM jobs
WHERE id = %(job)s AND tenant = %(tenant)s;

-- name: queues_in_line
-- The queues of a job with something left, in the order of looks, with their hosts; nobody asks
-- what the pages of these repeat.
SELECT queues.number, queues.ready_s,
       hosts.host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, NULL,
       next_s, token, owner, hosts.job, leased, lease_until_s
FROM queues
JOIN hosts ON hosts.host = queues.host
WHERE queues.job = %(job)s AND queues.is_waiting
ORDER BY queues.ready_s, queues.host
LIMIT %(many)s OFFSET %(skip)s;

-- name: entry
-- One URL of a job on one of all its hosts; first its host.
SELECT queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       entries.state, attempts, due_s, settled_s, outcome, status, detail, nesting, entries.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
LEFT JOIN patterns
    ON patterns.queue = entries.queue AND md5(patterns.pattern) = md5(entries.pattern)
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s
    AND url_hash = %(url_hash)s
LIMIT 1;

-- name: entry_on_host
-- One URL of a job on a host; first its host.
SELECT queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       entries.state, attempts, due_s, settled_s, outcome, status, detail, nesting, entries.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
LEFT JOIN patterns
    ON patterns.queue = entries.queue AND md5(patterns.pattern) = md5(entries.pattern)
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s
    AND queues.host = %(host)s AND url_hash = %(url_hash)s
LIMIT 1;

-- name: entries
-- A job's URLs in the order of their hashes; first of each its host. Each queue gives as many as
-- are wanted, so that its own key finds them in order.
SELECT queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM jobs
JOIN queues ON queues.job = jobs.number
CROSS JOIN LATERAL (
    SELECT * FROM entries
    WHERE entries.queue = queues.number AND entries.url_hash > %(after)s
        AND (%(state)s::text IS NULL OR entries.state = %(state)s)
    ORDER BY entries.url_hash
    LIMIT %(many)s
) AS found
LEFT JOIN patterns
    ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s
ORDER BY url_hash
LIMIT %(many)s;

-- name: exclusions
-- How often each rule kept links out of a job.
SELECT rule, count, examples
FROM exclusions
WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
ORDER BY rule;

-- name: patterns
-- What each pattern of a job has brought, the most visited first.
SELECT queues.host, pattern, visited, stale_links, stale_text, text_mark, stale_growth
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN patterns ON patterns.queue = queues.number
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s
ORDER BY visited DESC, queues.host, pattern;

-- name: qualities
-- A job's pages by host, outcome and the way their content was found.
SELECT queues.host, entries.outcome, COALESCE(pages.strategy, '') AS way, COUNT(*),
       COALESCE(AVG(pages.confidence), 0.0),
       COUNT(*) FILTER (WHERE pages.words < %(thin_words)s),
       COUNT(pages.duplicate_reason)
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
LEFT JOIN pages ON pages.tenant = jobs.tenant AND pages.url_hash = entries.url_hash
    AND entries.state = 'completed'
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s
    AND entries.kind = 'page' AND entries.outcome IS NOT NULL
GROUP BY queues.host, entries.outcome, way
ORDER BY queues.host, entries.outcome, way;

-- name: outcomes
-- How many of a job's URLs ended how.
SELECT entries.state, outcome, status, COUNT(*)
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
WHERE jobs.id = %(job)s AND jobs.tenant = %(tenant)s
GROUP BY entries.state, outcome, status;

-- name: edge
-- How far one answer may look: where the last of so many URLs after one is. Each queue gives no more
-- than that, so that its own key finds them in order. OFFSET 0: the queues of the job are found first,
-- whatever the planner knows of the tables.
SELECT own.number, found.url_hash
FROM (
    SELECT number FROM queues
    WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
    ORDER BY number
    OFFSET 0
) AS own
CROSS JOIN LATERAL (
    SELECT url_hash FROM entries
    WHERE entries.queue = own.number
        AND entries.url_hash > CASE own.number WHEN %(queue)s THEN %(after)s ELSE ''::bytea END
    ORDER BY entries.url_hash
    LIMIT %(looked)s + 1
) AS found
WHERE own.number >= %(queue)s
ORDER BY own.number, found.url_hash
LIMIT 1 OFFSET %(looked)s;

-- name: rows
-- Those of a job's URLs between two places that a filter means; first of each its queue and host.
SELECT own.number, own.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM (
    SELECT number, host FROM queues
    WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
    ORDER BY number
    OFFSET 0
) AS own
CROSS JOIN LATERAL (
    SELECT * FROM entries
    WHERE entries.queue = own.number
        AND entries.url_hash > CASE own.number WHEN %(queue)s THEN %(after)s ELSE ''::bytea END
        AND (own.number < %(last_queue)s OR entries.url_hash <= %(last)s)
        AND (%(state)s::text IS NULL OR entries.state = %(state)s)
        AND (%(outcome)s::text IS NULL OR entries.outcome = %(outcome)s)
        AND starts_with(entries.url, %(prefix)s)
    ORDER BY entries.url_hash
    LIMIT %(many)s
) AS found
LEFT JOIN patterns
    ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
WHERE own.number BETWEEN %(queue)s AND %(last_queue)s
ORDER BY own.number, url_hash
LIMIT %(many)s;

-- name: hosts
-- The hosts of a tenant's jobs, by name.
SELECT host, next_s, crawl_delay_s, backoff_s, errors, latency_s, ip
FROM hosts
WHERE host IN (
    SELECT DISTINCT own.host
    FROM jobs
    CROSS JOIN LATERAL (
        SELECT queues.host FROM queues WHERE queues.job = jobs.number OFFSET 0
    ) AS own
    WHERE jobs.tenant = %(tenant)s AND own.host > %(after)s
    ORDER BY own.host
    LIMIT %(many)s
)
ORDER BY host;
