-- name: get
-- One host with its politeness and its lease.
SELECT host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, job, leased, lease_until_s
FROM hosts
WHERE host = ?;

-- name: token
-- The token that a host was lent with last.
SELECT token FROM hosts WHERE host = ?;

-- name: close
-- Entries of a host that stays lent are settled.
UPDATE hosts SET leased = MAX(0, leased - ?), last_end_s = MAX(last_end_s, ?) WHERE host = ?;

-- name: put
-- Write a host in place of what was known of it.
INSERT OR REPLACE INTO hosts (
    host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
    next_s, token, owner, job, leased, lease_until_s
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: meet
-- Make sure that a host has a row.
INSERT INTO hosts (
    host, last_end_s, backoff_s, errors, latency_s, next_s, token, leased, lease_until_s
) VALUES (?, 0, 0, 0, 0, 0, 0, 0, 0)
ON CONFLICT DO NOTHING;

-- name: demands
-- What the active jobs of a host ask: the longest delay, the longest Crawl-delay they obey.
SELECT COALESCE(MAX(jobs.delay_s), 0.0), COALESCE(MAX(jobs.crawl_delay_cap_s), 0.0)
FROM queues
CROSS JOIN jobs ON jobs.number = queues.job
WHERE queues.host = ? AND queues.pending > 0 AND jobs.is_active;

-- name: crowd
-- How many other hosts of an address are lent now.
SELECT COUNT(*)
FROM hosts
WHERE ip = :ip AND lease_until_s > 0 AND lease_until_s > :now_s AND host <> :host;

-- name: lent_entries
-- How many entries of a job are lent and not settled.
SELECT COALESCE(SUM(leased), 0)
FROM hosts
WHERE job = :job AND lease_until_s > 0 AND lease_until_s > :now_s;

-- name: lent_hosts
-- How many hosts a job holds.
SELECT COUNT(*)
FROM hosts
WHERE job = :job AND lease_until_s > 0 AND lease_until_s > :now_s;

-- name: first_end
-- When the first live lease of a job runs out.
SELECT MIN(lease_until_s)
FROM hosts
WHERE job = :job AND lease_until_s > 0 AND lease_until_s > :now_s;

-- name: held_by
-- The hosts that an owner has not given back.
SELECT host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, job, leased, lease_until_s
FROM hosts
WHERE lease_until_s > 0 AND owner = ?;

-- name: rest
-- Let no claim look at a host before it is free again.
UPDATE queues SET ready_s = :ready_s WHERE host = :host;

-- name: counts
-- How many entries of a job are in each state.
SELECT number, is_active, max_pages, max_hosts, settled,
       CASE WHEN batch_number > 0 THEN batch_end - completed - failed - skipped - blocked END,
       batch_ready_s, pending, completed, failed, skipped, blocked
FROM jobs
WHERE id = ? AND tenant = ?;

-- name: queues_in_line
-- Every queue of a job with something left, in the order of looks, with its host.
SELECT queues.number, queues.ready_s,
       hosts.host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, hosts.job, leased, lease_until_s
FROM queues
CROSS JOIN hosts ON hosts.host = queues.host
WHERE queues.job = ? AND queues.pending > 0
ORDER BY queues.ready_s;
