-- name: enrol
-- Keep a worker's card.
INSERT OR REPLACE INTO workers (
    owner, machine, root, pid, role, version, started_s, beat_s, silence_s, jobs, pages, pages_per_s
) VALUES (
    :owner, :machine, :root, :pid, :role, :version, :started_s, :beat_s, :silence_s, :jobs, :pages,
    :pages_per_s
);

-- name: beat
-- A worker lives.
UPDATE workers SET beat_s = :now_s, jobs = :jobs, pages = :pages, pages_per_s = :pages_per_s
WHERE owner = :owner;

-- name: leave
-- Strike a worker off.
DELETE FROM workers WHERE owner = ?;

-- name: leave_duties
-- Let its duties pass.
DELETE FROM duties WHERE owner = ?;

-- name: list
-- Every card with the hosts that were not given back, oldest first.
SELECT owner, machine, root, pid, role, version, started_s, beat_s, silence_s, jobs, pages,
       pages_per_s,
       (SELECT COUNT(*) FROM hosts WHERE lease_until_s > 0 AND hosts.owner = workers.owner)
FROM workers
ORDER BY started_s, owner;

-- name: take
-- Take or keep a duty that nobody else holds now.
INSERT INTO duties (duty, owner, until_s) VALUES (:duty, :owner, :until_s)
ON CONFLICT (duty) DO UPDATE SET owner = excluded.owner, until_s = excluded.until_s
WHERE duties.owner = excluded.owner OR duties.until_s <= :now_s;

-- name: holder
-- Who holds a duty.
SELECT owner FROM duties WHERE duty = :duty;

-- name: drop
-- Give a duty back, if it is still ours.
DELETE FROM duties WHERE duty = :duty AND owner = :owner;
