-- name: number
-- The number of a name.
SELECT name, number FROM names WHERE name = :name;

-- name: new_name
-- Give a name its number.
INSERT INTO names (name) VALUES (:name);

-- name: forget
-- Forget those of the oldest requests that started before a time.
DELETE FROM requests
WHERE number IN (SELECT number FROM requests ORDER BY number LIMIT :many)
    AND started_s < :before_s;

-- name: hosts
-- The hosts that were asked anything.
SELECT name FROM names
WHERE EXISTS (SELECT 1 FROM requests WHERE host = names.number)
ORDER BY name;

-- name: ips
-- The addresses that were asked anything.
SELECT name FROM names
WHERE EXISTS (SELECT 1 FROM requests WHERE ip = names.number)
ORDER BY name;

-- name: of_host
-- A host's requests after a time; those that started at the same moment are not torn apart. A time
-- that is damaged sorts after all numbers and is read too: X'FF' is above any text.
SELECT hosts.name, jobs.name, owners.name, COALESCE(ips.name, ''), purpose, url, started_s, ended_s,
       status, outcome, floor_s, robots_at_s, robots_line
FROM names AS hosts
CROSS JOIN requests ON requests.host = hosts.number
CROSS JOIN names AS jobs ON jobs.number = requests.job
CROSS JOIN names AS owners ON owners.number = requests.owner
LEFT JOIN names AS ips ON ips.number = requests.ip
WHERE hosts.name = :name AND started_s > :after_s
    AND started_s <= COALESCE(
        (
            SELECT started_s FROM requests
            WHERE host = (SELECT number FROM names WHERE name = :name) AND started_s > :after_s
            ORDER BY started_s
            LIMIT 1 OFFSET :many - 1
        ),
        X'FF'
    )
ORDER BY started_s, requests.number;

-- name: of_ip
-- The same of an address.
SELECT hosts.name, jobs.name, owners.name, ips.name, purpose, url, started_s, ended_s, status,
       outcome, floor_s, robots_at_s, robots_line
FROM names AS ips
CROSS JOIN requests ON requests.ip = ips.number
CROSS JOIN names AS hosts ON hosts.number = requests.host
CROSS JOIN names AS jobs ON jobs.number = requests.job
CROSS JOIN names AS owners ON owners.number = requests.owner
WHERE ips.name = :name AND started_s > :after_s
    AND started_s <= COALESCE(
        (
            SELECT started_s FROM requests
            WHERE ip = (SELECT number FROM names WHERE name = :name) AND started_s > :after_s
            ORDER BY started_s
            LIMIT 1 OFFSET :many - 1
        ),
        X'FF'
    )
ORDER BY started_s, requests.number;
