-- name: enrol
-- Keep a worker's card.
INSERT INTO workers (
    owner, machine, root, pid, role, version, started_s, beat_s, silence_s, jobs, pages, pages_per_s
) VALUES (
    %(owner)s, %(machine)s, %(root)s, %(pid)s, %(role)s, %(version)s, %(started_s)s, %(beat_s)s,
    %(silence_s)s, %(jobs)s, %(pages)s, %(pages_per_s)s
)
ON CONFLICT (owner) DO UPDATE
SET machine = excluded.machine, root = excluded.root, pid = excluded.pid, role = excluded.role,
    version = excluded.version, started_s = excluded.started_s, beat_s = excluded.beat_s,
    silence_s = excluded.silence_s, jobs = excluded.jobs, pages = excluded.pages,
    pages_per_s = excluded.pages_per_s;

-- name: beat
-- A worker lives.
UPDATE workers
SET beat_s = %(now_s)s, jobs = %(jobs)s, pages = %(pages)s, pages_per_s = %(pages_per_s)s
WHERE owner = %(owner)s;

-- name: leave
-- Strike workers off.
DELETE FROM workers WHERE owner = ANY(%(owners)b::text[]);

-- name: leave_duties
-- Let their duties pass.
DELETE FROM duties WHERE owner = ANY(%(owners)b::text[]);

-- name: list
-- Every card with the hosts that were not given back, oldest first.
SELECT workers.owner, machine, root, pid, role, version, started_s, beat_s, silence_s, jobs, pages,
       pages_per_s, COALESCE(held.hosts, 0)
FROM workers
LEFT JOIN (
    SELECT owner, COUNT(*) AS hosts FROM hosts WHERE is_lent GROUP BY owner
) AS held ON held.owner = workers.owner
ORDER BY started_s, workers.owner;

-- name: take
-- Take or keep a duty that nobody else holds now.
INSERT INTO duties (duty, owner, until_s) VALUES (%(duty)s, %(owner)s, %(until_s)s)
ON CONFLICT (duty) DO UPDATE SET owner = excluded.owner, until_s = excluded.until_s
WHERE duties.owner = excluded.owner OR duties.until_s <= %(now_s)s;

-- name: holder
-- Who holds a duty.
SELECT owner FROM duties WHERE duty = %(duty)s;

-- name: drop
-- Give a duty back, if it is still ours.
DELETE FROM duties WHERE duty = %(duty)s AND owner = %(owner)s;

-- name: last_beat
-- When any worker was last heard of.
SELECT COALESCE(MAX(beat_s), 0.0) FROM workers;
