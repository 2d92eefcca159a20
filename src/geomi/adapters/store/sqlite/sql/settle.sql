-- name: close
-- Write the end of a visit, a retry too; the attempts tell whether this visit was written before. A
-- page that came nearer while it was lent is left to `open_again`.
UPDATE entries
SET state = ?1, outcome = ?3, status = ?4, detail = ?5, settled_s = ?6, due_s = ?7,
    media_type = ?11, body_bytes = ?12, attempts = attempts + 1
WHERE queue = ?8 AND url_hash = ?9 AND attempts = ?10
    AND state IN (/* entry before settle */)
    AND NOT (?1 IN (/* entry before reopen */) AND kind = 'page' AND depth < ?2);

-- name: open_again
-- A page that came nearer while it was lent waits again at once: its links were taken from farther
-- away.
UPDATE entries
SET outcome = ?3, status = ?4, detail = ?5, settled_s = ?6, due_s = ?7,
    media_type = ?11, body_bytes = ?12, attempts = attempts + 1
WHERE queue = ?8 AND url_hash = ?9 AND attempts = ?10
    AND state IN (/* entry before settle */)
    AND ?1 IN (/* entry before reopen */) AND kind = 'page' AND depth < ?2;

-- name: shrink
-- Entries of a queue have ended, and requests for pages were answered.
UPDATE queues
SET pending = pending - :ended, answers = answers + :answers, answer_s = answer_s + :answer_s
WHERE number = :queue;

-- name: count
-- Add the visits of one transaction to a job's counters.
UPDATE jobs
SET pending = pending - :ended,
    completed = completed + :completed,
    settled = settled + :settled,
    collected = collected + :collected,
    failed = failed + :failed,
    skipped = skipped + :skipped,
    blocked = blocked + :blocked,
    redirected = redirected + :redirected,
    duplicates = duplicates + :duplicates,
    poisoned = poisoned + :poisoned,
    retries = retries + :retries,
    requests = requests + :requests,
    bytes_received = bytes_received + :bytes_received
WHERE number = :job;

-- name: exclusion
-- How often a rule has kept links out of a job so far.
SELECT count, examples FROM exclusions WHERE job = ? AND rule = ?;

-- name: put_exclusion
-- Write how often a rule has kept links out.
INSERT OR REPLACE INTO exclusions (job, rule, count, examples) VALUES (?, ?, ?, ?);

-- name: capture
-- A job has collected a page.
INSERT INTO captures (
    job, url_hash, url, record_segment, record_offset, record_length,
    response_segment, response_offset, response_length, exact_key
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: new_page
-- Write a page that the tenant has not met, as far as was known when it was lent.
INSERT INTO pages (tenant, capture, /* columns */) VALUES (?, ?, /* marks */)
ON CONFLICT DO NOTHING;

-- name: before
-- A page as its last visit left it, for similar pages.
SELECT number, sketch, duplicate_of FROM pages WHERE tenant = ? AND url_hash = ?;

-- name: page
-- Write a page in place of its last visit; its number stays.
INSERT INTO pages (tenant, capture, /* columns */) VALUES (?, ?, /* marks */)
ON CONFLICT (tenant, url_hash) DO UPDATE SET capture = excluded.capture, /* updates */;

-- name: find_by
-- Let similar pages find a page; one that changed and changed back in a batch is there already.
INSERT OR IGNORE INTO bands (band, page) VALUES (?, ?);

-- name: lose
-- Let them find it no more by what it said before.
DELETE FROM bands WHERE band = ? AND page = ?;

-- name: tally
-- What a pattern has brought so far.
SELECT visited, stale_links, stale_text, text_mark, stale_growth
FROM patterns
WHERE queue = ? AND pattern = ?;

-- name: grow_tally
-- A page led to a new URL of a pattern.
UPDATE patterns SET stale_growth = 0 WHERE queue = ? AND pattern = ?;

-- name: put_tally
-- Write what a pattern has brought.
INSERT OR REPLACE INTO patterns (
    queue, pattern, visited, stale_links, stale_text, text_mark, stale_growth
) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: log
-- Write a request down, unless this very one was written before; of an erased page it has no URL.
INSERT INTO requests (
    host, job, owner, ip, purpose, url, started_s, ended_s, status, outcome, floor_s,
    robots_at_s, robots_line
)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
WHERE NOT EXISTS (
    SELECT 1 FROM requests
    WHERE host = ?1 AND started_s = ?7 AND ended_s = ?8 AND url IN (?6, '') AND job = ?2
        AND owner = ?3
);
