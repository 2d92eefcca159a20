-- name: enrol
-- Keep a worker's card.
INSERT INTO workers (/* columns */) VALUES (/* values */)
ON CONFLICT (owner) DO UPDATE SET /* updates */;

-- name: beat
-- A worker lives.
UPDATE workers SET beat_s = :now_s, jobs = :jobs, pages = :pages, pages_per_s = :pages_per_s
WHERE owner = :owner;

-- name: leave
-- Strike a worker off.
DELETE FROM workers WHERE owner = :owner;

-- name: leave_duties
-- Let its duties pass.
DELETE FROM duties WHERE owner = :owner;

-- name: leave_shares
-- Let others have its shares.
UPDATE shares SET until_s = 0 WHERE owner = :owner;

-- name: list
-- Every card with the hosts that were not given back, oldest first.
SELECT /* columns */,
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

-- name: last_beat
-- When any worker was last heard of.
SELECT COALESCE(MAX(beat_s), 0.0) FROM workers;
