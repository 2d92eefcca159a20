-- name: entry
-- One URL of a job on one of all its hosts; first its host.
SELECT queues.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM queues
JOIN entries AS found ON found.queue = queues.number
LEFT JOIN patterns ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
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
JOIN entries AS found ON found.queue = queues.number
LEFT JOIN patterns ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.host = :host AND found.url_hash = :url_hash
LIMIT 1;

-- name: entries
-- A queue's URLs in the order of their hashes; first of each its host.
SELECT (SELECT host FROM queues WHERE number = :queue),
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM entries AS found
LEFT JOIN patterns ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
WHERE found.queue = :queue AND url_hash > :after AND (:state::text IS NULL OR found.state = :state)
ORDER BY url_hash
LIMIT :many;

-- name: statuses
-- How many of a job's URLs are in which state, and what became of the documents of its pages.
SELECT entries.state, entries.kind = 'page' AS is_page, documents.state AS document, COUNT(*),
       COALESCE(SUM(documents.chunks), 0)
FROM jobs
JOIN queues ON queues.job = jobs.number
JOIN entries ON entries.queue = queues.number
LEFT JOIN documents ON documents.tenant = jobs.tenant
    AND entries.state = /* entry completed */ AND entries.kind = 'page'
    AND documents.id = :collection::text || '/' || encode(entries.url_hash, 'hex')
WHERE jobs.id = :job AND jobs.tenant = :tenant
GROUP BY entries.state, is_page, document;

-- name: edge
-- How far one answer may look: where the last of so many URLs after one is. Each queue gives no more
-- than that, so that its own key finds them in order. OFFSET 0: the queues of the job are found first,
-- whatever the planner knows of the tables.
SELECT own.number, found.url_hash
FROM (
    SELECT number FROM queues
    WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    ORDER BY number
    OFFSET 0
) AS own
CROSS JOIN LATERAL (
    SELECT url_hash FROM entries
    WHERE entries.queue = own.number
        AND entries.url_hash > CASE own.number WHEN :queue THEN :after ELSE ''::bytea END
    ORDER BY entries.url_hash
    LIMIT :looked + 1
) AS found
WHERE own.number >= :queue
ORDER BY own.number, found.url_hash
LIMIT 1 OFFSET :looked;

-- name: rows
-- Those of a job's URLs between two places that a filter means; first of each its queue and host.
SELECT own.number, own.host,
       url_hash, url, depth, priority, source, kind, parent, origin, hops, discovered_s,
       found.state, attempts, due_s, settled_s, outcome, status, detail, media_type,
       body_bytes, nesting, found.pattern,
       lastmod_s, visited, stale_links, stale_text, text_mark, stale_growth
FROM (
    SELECT number, host FROM queues
    WHERE job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    ORDER BY number
    OFFSET 0
) AS own
CROSS JOIN LATERAL (
    SELECT * FROM entries
    WHERE entries.queue = own.number
        AND entries.url_hash > CASE own.number WHEN :queue THEN :after ELSE ''::bytea END
        AND (own.number < :last_queue OR entries.url_hash <= :last)
        AND (:state::text IS NULL OR entries.state = :state)
        AND (:outcome::text IS NULL OR entries.outcome = :outcome)
        AND starts_with(entries.url, :prefix)
    ORDER BY entries.url_hash
    LIMIT :many
) AS found
LEFT JOIN patterns
    ON patterns.queue = found.queue AND md5(patterns.pattern) = md5(found.pattern)
WHERE own.number BETWEEN :queue AND :last_queue
ORDER BY own.number, url_hash
LIMIT :many;

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
    WHERE jobs.tenant = :tenant AND own.host > :after
    ORDER BY own.host
    LIMIT :many
)
ORDER BY host;
