-- name: lock
-- Some hosts with their politeness and their leases, locked until the commit.
SELECT host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, job, leased, lease_until_s
FROM hosts
WHERE host = ANY(%(hosts)b::text[])
ORDER BY host
FOR UPDATE;

-- name: put
-- Write hosts in place of what was known of them; their rows are locked.
UPDATE hosts
SET last_end_s = new.last_end_s, crawl_delay_s = new.crawl_delay_s, backoff_s = new.backoff_s,
    errors = new.errors, latency_s = new.latency_s, ip = new.ip, template = new.template,
    next_s = new.next_s, token = new.token, owner = new.owner, job = new.job,
    leased = new.leased, lease_until_s = new.lease_until_s
FROM unnest(
    %(host)b::text[], %(last_end_s)b::float8[], %(crawl_delay_s)b::float8[],
    %(backoff_s)b::float8[], %(errors)b::integer[], %(latency_s)b::float8[], %(ip)b::text[],
    %(template)b::text[], %(next_s)b::float8[], %(token)b::bigint[], %(owner)b::text[],
    %(job)b::text[], %(leased)b::integer[], %(lease_until_s)b::float8[]
) AS new (
    host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
    next_s, token, owner, job, leased, lease_until_s
)
WHERE hosts.host = new.host;

-- name: close
-- Entries of hosts that stay lent are settled; the hosts' rows are locked.
UPDATE hosts
SET leased = GREATEST(0, leased - done.closed),
    last_end_s = GREATEST(last_end_s, done.answered_s)
FROM unnest(%(hosts)b::text[], %(closed)b::bigint[], %(answered_s)b::float8[])
    AS done (host, closed, answered_s)
WHERE hosts.host = done.host;

-- name: meet
-- Make sure that hosts have rows.
INSERT INTO hosts (host)
SELECT host FROM unnest(%(hosts)b::text[]) AS met (host)
ORDER BY host COLLATE "C"
ON CONFLICT DO NOTHING;

-- name: demands
-- What the active jobs of each host ask: the longest delay, the longest Crawl-delay they obey.
-- `<> 0`, so that the queues are found by their host.
SELECT asked.host, found.floor_s, found.cap_s
FROM unnest(%(hosts)b::text[]) AS asked (host)
CROSS JOIN LATERAL (
    SELECT COALESCE(MAX(jobs.delay_s), 0.0) AS floor_s,
           COALESCE(MAX(jobs.crawl_delay_cap_s), 0.0) AS cap_s
    FROM queues
    JOIN jobs ON jobs.number = queues.job
    WHERE queues.host = asked.host AND queues.pending <> 0 AND jobs.is_active
) AS found;

-- name: lock_ip
-- Let one process at a time count the leases of an address. 1: the class of these locks.
SELECT pg_advisory_xact_lock(1, hashtext(%(ip)s));

-- name: try_lock_ips
-- The same for several addresses without waiting: which of them are ours now.
SELECT ip
FROM unnest(%(ips)b::text[]) AS asked (ip)
WHERE pg_try_advisory_xact_lock(1, hashtext(ip));

-- name: crowds
-- How many other hosts of each host's address are lent now.
SELECT asked.host, (
    SELECT COUNT(*) FROM hosts
    WHERE hosts.ip = asked.ip AND hosts.is_lent AND hosts.lease_until_s > %(now_s)s
        AND hosts.host <> asked.host
)
FROM unnest(%(hosts)b::text[], %(ips)b::text[]) AS asked (host, ip);

-- name: lent
-- How many entries of a job are lent and not settled, how many hosts it holds, and when the first
-- of these leases runs out.
SELECT COALESCE(SUM(leased), 0)::bigint, COUNT(*), MIN(lease_until_s)
FROM hosts
WHERE job = %(job)s AND is_lent AND lease_until_s > %(now_s)s;

-- name: held_by
-- The hosts that some owners have not given back, locked until the commit.
SELECT host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, template,
       next_s, token, owner, job, leased, lease_until_s
FROM hosts
WHERE is_lent AND owner = ANY(%(owners)b::text[])
ORDER BY host
FOR UPDATE;

-- name: lock_queues
-- Some queues, and every queue of some hosts, locked until the commit in the order of all.
SELECT number
FROM queues
WHERE number = ANY(
    %(queues)b::bigint[] || ARRAY(SELECT number FROM queues WHERE host = ANY(%(hosts)b::text[]))
)
ORDER BY number
FOR NO KEY UPDATE;

-- name: rest
-- Let no claim look at a host before it is free again; its queues are locked.
UPDATE queues SET ready_s = free.next_s
FROM unnest(%(hosts)b::text[], %(next_s)b::float8[]) AS free (host, next_s)
WHERE queues.host = free.host;

-- name: counts
-- How many entries of a job are in each state.
SELECT number, is_active, max_pages, max_hosts, settled,
       CASE WHEN batch_number > 0 THEN batch_end - completed - failed - skipped - blocked END,
       batch_ready_s, pending, completed, failed, skipped, blocked
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
