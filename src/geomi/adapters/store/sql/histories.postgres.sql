-- name: standings
-- Pages that a job collected and met first, queue by queue.
SELECT entries.queue, entries.url_hash, entries.url, queues.host, entries.depth,
       pages.fetched_at_s, pages.due_s, /* columns */
FROM queues
JOIN entries ON entries.queue = queues.number
JOIN pages ON pages.tenant = :tenant AND pages.url_hash = entries.url_hash
LEFT JOIN histories ON histories.tenant = :tenant AND histories.url_hash = entries.url_hash
WHERE queues.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
    AND queues.number >= :queue
    AND (entries.queue, entries.url_hash) > (:queue, :after)
    AND entries.kind = 'page' AND entries.state = /* entry completed */
    AND entries.source <> 'revisit'
ORDER BY entries.queue, entries.url_hash
LIMIT :many;

-- name: met
-- When a URL was last collected; 0 where the first job of a crawl has asked for it in vain.
SELECT :url_hash, COALESCE(
    (SELECT fetched_at_s FROM pages WHERE tenant = :tenant AND url_hash = :url_hash),
    (
        SELECT 0.0::float8
        FROM queues
        JOIN entries ON entries.queue = queues.number
        WHERE queues.host = :host AND entries.url_hash = :url_hash
            AND queues.job = (SELECT number FROM jobs WHERE id = :crawl AND tenant = :tenant)
    )
);
