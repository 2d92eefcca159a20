-- name: number
-- The number of a job of this tenant.
SELECT number FROM jobs WHERE id = :job AND tenant = :tenant;

-- name: lock
-- The same, and nobody else changes the job until the commit.
SELECT number FROM jobs WHERE id = :job AND tenant = :tenant;

-- name: create
-- Keep a new job; what is returned is its number, and nothing where there is one of this name.
INSERT INTO jobs (
    /* columns */, is_active, delay_s, crawl_delay_cap_s, max_pages, max_hosts, per_ip, importance,
    max_queued, max_queued_per_host, max_queued_per_pattern, keep_urls_s, keep_job_s, is_watched,
    regions
) VALUES (
    /* values */, :is_active, :delay_s, :crawl_delay_cap_s, :max_pages, :max_hosts, :per_ip,
    :importance, :max_queued, :max_queued_per_host, :max_queued_per_pattern, :keep_urls_s,
    :keep_job_s, :is_watched, :regions
)
ON CONFLICT DO NOTHING
RETURNING number;

-- name: get
-- One job with its counters.
SELECT /* columns */
FROM jobs
WHERE id = :id AND tenant = :tenant;

-- name: list
-- A tenant's jobs, newest first.
SELECT /* columns */
FROM jobs
WHERE tenant = :tenant
ORDER BY created_at_s DESC, number DESC
LIMIT :many;

-- name: page
-- A tenant's jobs by their ids, newest first, of a filter and before an id.
SELECT /* columns */
FROM jobs
WHERE tenant = :tenant AND id < :before /* conditions */
ORDER BY id DESC
LIMIT :many;

-- name: counts
-- How many jobs of a tenant are in each state.
SELECT state, COUNT(*)
FROM jobs
WHERE tenant = :tenant
GROUP BY state;

-- name: line_up
-- SQLite's writers stand in one line anyway.
SELECT 1;

-- name: begin
-- Let a job begin that waits, if its tenant has a place for it; 0 is no limit.
UPDATE jobs
SET state = /* job initializing */, started_at_s = COALESCE(started_at_s, :wall_s)
WHERE id = :job AND tenant = :tenant AND state = /* job pending */ AND NOT paused AND expired = ''
    AND (
        :most = 0
        OR :most > (
            SELECT COUNT(*) FROM jobs AS begun
            WHERE begun.tenant = :tenant
                AND begun.state IN (/* job begun */)
        )
    );

-- name: update
-- Write what changes while a job runs, the counters left out; none goes on whose URLs have gone.
UPDATE jobs
SET config = :config, origins = :origins, delay_s = :delay_s, crawl_delay_cap_s = :crawl_delay_cap_s,
    max_pages = :max_pages, max_hosts = :max_hosts, per_ip = :per_ip, state = :state,
    paused = :paused, started_at_s = :started_at_s, ended_at_s = :ended_at_s, stop = :stop,
    error = :error, is_active = :is_active, importance = :importance,
    max_queued = :max_queued, max_queued_per_host = :max_queued_per_host,
    max_queued_per_pattern = :max_queued_per_pattern,
    keep_urls_s = :keep_urls_s, keep_job_s = :keep_job_s, is_watched = :is_watched,
    regions = :regions
WHERE number = :number AND (expired = '' OR :is_over);

-- name: label_anew
-- Let the queues of a job whose regions change be labelled by the next claim, if it names any.
UPDATE queues SET region = CASE WHEN :regions <> '' THEN '?' END WHERE job = :number;

-- name: turn
-- Take a step of a job that is still where it was, if its tenant has a place for it; the pause is
-- not touched.
UPDATE jobs
SET state = :state, started_at_s = :started_at_s, ended_at_s = :ended_at_s,
    stop = :stop, error = :error, is_active = :is_open AND NOT paused
WHERE number = :number AND state = :was AND (NOT :only_empty OR pending = 0)
    AND (expired = '' OR NOT :is_open)
    AND (
        :most = 0
        OR :most > (
            SELECT COUNT(*) FROM jobs AS begun
            WHERE begun.tenant = :tenant
                AND begun.state IN (/* job begun */)
        )
    );

-- name: turn_batch
-- Begin a batch after another, which only one process does.
UPDATE jobs
SET batch_number = :number, batch_size = :size, batch_end = :end, batch_failed = :failed,
    batch_ready_s = :ready_s
WHERE id = :job AND tenant = :tenant AND batch_number = :was;

-- name: look_again
-- Say when a crawl is looked at again, and what keeps its pages from a visit.
UPDATE jobs SET next_look_s = :at_s, watch_note = :note WHERE id = :job AND tenant = :tenant;

-- name: successor
-- The newest crawl that has done the same again for the same collection.
SELECT newer.id
FROM jobs
JOIN jobs AS newer ON newer.tenant = jobs.tenant AND newer.number > jobs.number
    AND newer.kind = 'crawl' AND newer.state = /* job completed */
    AND newer.seeds = jobs.seeds AND newer.collection = jobs.collection
WHERE jobs.id = :job AND jobs.tenant = :tenant
ORDER BY newer.number DESC
LIMIT 1;

-- name: worked
-- Add to the seconds a job has worked.
UPDATE jobs SET active_s = active_s + :seconds WHERE number = :number;

-- name: forget_patterns
-- Forget what the patterns of a job's URLs brought.
DELETE FROM patterns WHERE queue IN (SELECT number FROM queues WHERE job = :job);

-- name: forget_entries
-- Forget a job's URLs.
DELETE FROM entries WHERE queue IN (SELECT number FROM queues WHERE job = :job);

-- name: forget_queues
-- Forget a job's queues.
DELETE FROM queues WHERE job = :job;

-- name: forget_exclusions
-- Forget what rules kept out of a job.
DELETE FROM exclusions WHERE job = :job;

-- name: forget_cursors
-- Forget how far a job's outputs have come.
DELETE FROM cursors WHERE job = :job;

-- name: forget_shares
-- Forget what is lent of a job's captures.
DELETE FROM shares WHERE job = :job;

-- name: forget_documents
-- Forget what was understood of a job's pages.
DELETE FROM documents
WHERE tenant = (SELECT tenant FROM jobs WHERE number = :job)
    AND job = (SELECT id FROM jobs WHERE number = :job);

-- name: forget_lines
-- Let a job wait for no address.
DELETE FROM lines WHERE job = :job;

-- name: forget_journal
-- Forget what became of a job.
DELETE FROM journal WHERE job = :job;

-- name: forget_job
-- Forget the job itself; nobody can settle any more of it.
DELETE FROM jobs WHERE number = :job;

-- name: kept_bytes
-- How many bytes of the archive a job's captures take.
SELECT CAST(COALESCE(SUM(record_length + COALESCE(response_length, 0)), 0) AS BIGINT)
FROM captures
WHERE job = :job;

-- name: forget_captures
-- Forget a job's captures.
DELETE FROM captures WHERE job = :job;
