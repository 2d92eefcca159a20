-- name: floor
-- The longest delay among the active jobs of a host.
SELECT COALESCE(MAX(jobs.delay_s), 0.0)
FROM queues
CROSS JOIN jobs
WHERE jobs.number = queues.job AND queues.host = :host AND queues.pending > 0 AND jobs.is_active;

-- name: regions
-- How many hosts and URLs of a job wait, by the label of their regions.
SELECT region, COUNT(*), CAST(SUM(pending) AS BIGINT)
FROM queues
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND pending > 0 AND region IS NOT NULL
GROUP BY region
ORDER BY region;

-- name: leases
-- How often a host was lent: each lease has a token of its own.
SELECT token FROM hosts WHERE host = :host;

-- name: entry
-- One URL of a job on one of all its hosts; first its host.
SELECT queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM queues
CROSS JOIN entries AS found ON found.queue = queues.number
LEFT JOIN patterns ON patterns.queue = found.queue AND patterns.pattern = found.pattern
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND found.url_hash = :url_hash
LIMIT 1;

-- name: entry_on_host
-- One URL of a job on a host; first its host.
SELECT queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM queues
CROSS JOIN entries AS found ON found.queue = queues.number
LEFT JOIN patterns ON patterns.queue = found.queue AND patterns.pattern = found.pattern
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.host = :host AND found.url_hash = :url_hash
LIMIT 1;

-- name: queues
-- Every queue of a job.
SELECT number FROM queues
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant);

-- name: entries
-- A queue's URLs in the order of their hashes; first of each its host.
SELECT (SELECT host FROM queues WHERE number = :queue),
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM entries AS found
LEFT JOIN patterns ON patterns.queue = found.queue AND patterns.pattern = found.pattern
WHERE found.queue = :queue AND url_hash > :after AND (:state IS NULL OR found.state = :state)
ORDER BY url_hash
LIMIT :many;

-- name: exclusions
-- How often each rule kept links out of a job.
SELECT rule, count, examples
FROM exclusions
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
ORDER BY rule;

-- name: patterns
-- What each pattern of a job has brought, the most visited first.
SELECT queues.host, pattern, visited, stale_links, stale_text, text_mark, stale_growth
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN patterns ON patterns.queue = queues.number
WHERE jobs.id = :job AND jobs.tenant = :tenant
ORDER BY visited DESC, queues.host, pattern;

-- name: qualities
-- A job's pages by host, outcome and the way their content was found.
SELECT queues.host, entries.outcome, COALESCE(pages.strategy, '') AS way, COUNT(*),
       COALESCE(AVG(pages.confidence), 0.0),
       COUNT(*) FILTER (WHERE pages.words < :thin_words),
       COUNT(pages.duplicate_reason)
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
LEFT JOIN pages ON pages.tenant = jobs.tenant AND pages.url_hash = entries.url_hash
    AND entries.state = /* entry completed */
WHERE jobs.id = :job AND jobs.tenant = :tenant
    AND entries.kind = 'page' AND entries.outcome IS NOT NULL
GROUP BY queues.host, entries.outcome, way
ORDER BY queues.host, entries.outcome, way;

-- name: outcomes
-- How many of a job's URLs ended how.
SELECT entries.state, outcome, status, COUNT(*)
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
WHERE jobs.id = :job AND jobs.tenant = :tenant
GROUP BY entries.state, outcome, status;

-- name: statuses
-- How many of a job's URLs are in which state, and what became of the documents of its pages.
SELECT entries.state, entries.kind = 'page' AS is_page, documents.state AS document, COUNT(*),
       COALESCE(SUM(documents.chunks), 0)
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
LEFT JOIN documents ON documents.tenant = jobs.tenant
    AND entries.state = /* entry completed */ AND entries.kind = 'page'
    AND documents.id = :collection || '/' || lower(hex(entries.url_hash))
WHERE jobs.id = :job AND jobs.tenant = :tenant
GROUP BY entries.state, is_page, document;

-- name: edge
-- How far one answer may look: where the last of so many URLs after one is.
SELECT queues.number, entries.url_hash
FROM queues
CROSS JOIN entries ON entries.queue = queues.number
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.number >= :queue
    AND entries.url_hash > CASE queues.number WHEN :queue THEN :after ELSE x'' END
ORDER BY queues.number, entries.url_hash
LIMIT 1 OFFSET :looked;

-- name: rows
-- Those of a job's URLs between two places that a filter means; first of each its queue and host.
SELECT queues.number, queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM queues
CROSS JOIN entries AS found ON found.queue = queues.number
LEFT JOIN patterns ON patterns.queue = found.queue AND patterns.pattern = found.pattern
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.number BETWEEN :queue AND :last_queue
    AND url_hash > CASE queues.number WHEN :queue THEN :after ELSE x'' END
    AND (queues.number < :last_queue OR url_hash <= :last)
    AND (:state IS NULL OR state = :state) AND (:outcome IS NULL OR outcome = :outcome)
    AND substr(url, 1, length(:prefix)) = :prefix
ORDER BY queues.number, url_hash
LIMIT :many;

-- name: response_times
-- How long the slowest hosts of a job took to answer, on average; last of each, all its hosts.
SELECT host, answer_s / answers AS mean_s, SUM(answer_s) OVER () / SUM(answers) OVER ()
FROM queues
WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant) AND answers > 0
ORDER BY mean_s DESC, host
LIMIT :many;

-- name: hosts
-- The hosts of a tenant's jobs, by name. `+`: queues are found by their job, not by their host.
SELECT host, next_s, crawl_delay_s, backoff_s, errors, latency_s, ip
FROM hosts
WHERE host IN (
    SELECT DISTINCT queues.host
    FROM jobs
    CROSS JOIN queues ON queues.job = jobs.number
    WHERE jobs.tenant = :tenant AND +queues.host > :after
    ORDER BY queues.host
    LIMIT :many
)
ORDER BY host;

-- name: windows
-- The requests to a domain that were permitted in each minute, the newest first.
SELECT minute, count
FROM windows
WHERE domain = :domain AND minute >= :oldest
ORDER BY minute DESC;
