-- name: number
-- The number of a job of this tenant.
SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s;

-- name: lock
-- The same, and nobody else changes the job meanwhile.
SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s FOR UPDATE;

-- name: create
-- Keep a new job; what is returned is its number.
INSERT INTO jobs (
    id, tenant, seeds, config, origins, created_at_s,
    state, paused, started_at_s, ended_at_s, active_s, stop, error, is_active,
    delay_s, crawl_delay_cap_s, max_pages, max_hosts, per_ip, provider, crawl, collection,
    importance, max_queued, max_queued_per_host, max_queued_per_pattern, keep_urls_s, keep_job_s
) VALUES (
    %(id)s, %(tenant)s, %(seeds)s, %(config)s, %(origins)s, %(created_at_s)s,
    %(state)s, %(paused)s, %(started_at_s)s, %(ended_at_s)s, %(active_s)s, %(stop)s, %(error)s, %(is_active)s,
    %(delay_s)s, %(crawl_delay_cap_s)s, %(max_pages)s, %(max_hosts)s, %(per_ip)s, %(provider)s, %(crawl)s,
    %(collection)s,
    %(importance)s, %(max_queued)s, %(max_queued_per_host)s, %(max_queued_per_pattern)s,
    %(keep_urls_s)s, %(keep_job_s)s
)
RETURNING number;

-- name: get
-- One job with its counters.
SELECT id, tenant, seeds, config, origins, created_at_s,
       state, paused, started_at_s, ended_at_s, active_s, stop, error, provider, crawl,
       collection, expired, discovered, settled, collected, failed, skipped, blocked, redirected,
       duplicates, retries, requests, bytes_received
FROM jobs
WHERE id = %(id)s AND tenant = %(tenant)s;

-- name: list
-- A tenant's jobs, newest first.
SELECT id, tenant, seeds, config, origins, created_at_s,
       state, paused, started_at_s, ended_at_s, active_s, stop, error, provider, crawl,
       collection, expired, discovered, settled, collected, failed, skipped, blocked, redirected,
       duplicates, retries, requests, bytes_received
FROM jobs
WHERE tenant = %(tenant)s
ORDER BY created_at_s DESC, number DESC
LIMIT %(many)s;

-- name: page
-- A tenant's jobs by their ids, newest first, of a filter.
SELECT id, tenant, seeds, config, origins, created_at_s,
       state, paused, started_at_s, ended_at_s, active_s, stop, error, provider, crawl,
       collection, expired, discovered, settled, collected, failed, skipped, blocked, redirected,
       duplicates, retries, requests, bytes_received
FROM jobs
WHERE tenant = %(tenant)s /* conditions */
ORDER BY id DESC
LIMIT %(many)s;

-- name: counts
-- How many jobs of a tenant are in each state.
SELECT state, COUNT(*)
FROM jobs
WHERE tenant = %(tenant)s
GROUP BY state;

-- name: line_up
-- Let one job of a tenant begin at a time. 3: the class of these locks.
SELECT pg_advisory_xact_lock(3, hashtext(%(tenant)s));

-- name: begin
-- Let a job begin that waits, if its tenant has a place for it; 0 is no limit.
UPDATE jobs
SET state = 'initializing', started_at_s = COALESCE(started_at_s, %(wall_s)s)
WHERE id = %(job)s AND tenant = %(tenant)s AND state = 'pending' AND NOT paused AND expired = ''
    AND (
        %(most)s = 0
        OR %(most)s > (
            SELECT COUNT(*) FROM jobs AS begun
            WHERE begun.tenant = %(tenant)s
                AND begun.state IN ('initializing', 'discovering', 'processing', 'finalizing')
        )
    );

-- name: update
-- Write what changes while a job runs, the counters left out; none goes on whose URLs have gone.
UPDATE jobs
SET config = %(config)s, delay_s = %(delay_s)s, crawl_delay_cap_s = %(crawl_delay_cap_s)s,
    max_pages = %(max_pages)s, max_hosts = %(max_hosts)s, per_ip = %(per_ip)s, state = %(state)s,
    paused = %(paused)s, started_at_s = %(started_at_s)s, ended_at_s = %(ended_at_s)s, stop = %(stop)s,
    error = %(error)s, is_active = %(is_active)s, importance = %(importance)s,
    max_queued = %(max_queued)s, max_queued_per_host = %(max_queued_per_host)s,
    max_queued_per_pattern = %(max_queued_per_pattern)s,
    keep_urls_s = %(keep_urls_s)s, keep_job_s = %(keep_job_s)s
WHERE number = %(number)s AND (expired = '' OR %(is_over)s);

-- name: turn
-- Take a step of a job that is still where it was, if its tenant has a place for it; the pause is
-- not touched.
UPDATE jobs
SET state = %(state)s, started_at_s = %(started_at_s)s, ended_at_s = %(ended_at_s)s,
    stop = %(stop)s, error = %(error)s, is_active = %(is_open)s AND NOT paused
WHERE number = %(number)s AND state = %(was)s AND (NOT %(only_empty)s OR pending = 0)
    AND (expired = '' OR NOT %(is_open)s)
    AND (
        %(most)s = 0
        OR %(most)s > (
            SELECT COUNT(*) FROM jobs AS begun
            WHERE begun.tenant = %(tenant)s
                AND begun.state IN ('initializing', 'discovering', 'processing', 'finalizing')
        )
    );

-- name: worked
-- Add to the seconds a job has worked.
UPDATE jobs SET active_s = active_s + %(seconds)s WHERE number = %(number)s;

-- name: forget_patterns
-- Forget what the patterns of a job's URLs brought.
DELETE FROM patterns WHERE queue IN (SELECT number FROM queues WHERE job = %(job)s);

-- name: forget_entries
-- Forget a job's URLs.
DELETE FROM entries WHERE queue IN (SELECT number FROM queues WHERE job = %(job)s);

-- name: forget_queues
-- Forget a job's queues.
DELETE FROM queues WHERE job = %(job)s;

-- name: forget_exclusions
-- Forget what rules kept out of a job.
DELETE FROM exclusions WHERE job = %(job)s;

-- name: forget_cursors
-- Forget how far a job's outputs have come.
DELETE FROM cursors WHERE job = %(job)s;

-- name: forget_documents
-- Forget what was understood of a job's pages.
DELETE FROM documents
USING jobs
WHERE jobs.number = %(job)s AND documents.tenant = jobs.tenant AND documents.job = jobs.id;

-- name: forget_lines
-- Let a job wait for no address.
DELETE FROM lines WHERE job = %(job)s;

-- name: forget_job
-- Forget the job itself.
DELETE FROM jobs WHERE number = %(job)s;

-- name: forget_journal
-- Forget what became of a job.
DELETE FROM journal WHERE job = %(job)s;

-- name: let_captures_go
-- Forget a job's captures, once nobody can settle any more of them; what is returned are the bytes
-- that they take.
WITH gone AS (
    DELETE FROM captures WHERE job = %(job)s
    RETURNING record_length + COALESCE(response_length, 0) AS bytes
)
SELECT COALESCE(SUM(bytes), 0)::bigint FROM gone;
