-- name: number
-- The numbers of names.
SELECT name, number FROM names WHERE name = ANY(:name::text[]);

-- name: new_name
-- Give names their numbers; somebody else may do so at the same moment.
INSERT INTO names (name)
SELECT name FROM unnest(:name::text[]) AS new (name)
ORDER BY name COLLATE "C"
ON CONFLICT DO NOTHING;

-- name: of_host
-- A host's requests after a time; those that started at the same moment are not torn apart.
SELECT hosts.name, jobs.name, owners.name, COALESCE(ips.name, ''), purpose, url, started_s, ended_s,
       status, outcome, floor_s, robots_at_s, robots_line
FROM names AS hosts
JOIN requests ON requests.host = hosts.number
JOIN names AS jobs ON jobs.number = requests.job
JOIN names AS owners ON owners.number = requests.owner
LEFT JOIN names AS ips ON ips.number = requests.ip
WHERE hosts.name = :name AND started_s > :after_s
    AND started_s <= COALESCE(
        (
            SELECT started_s FROM requests
            WHERE host = (SELECT number FROM names WHERE name = :name) AND started_s > :after_s
            ORDER BY started_s
            LIMIT 1 OFFSET :many - 1
        ),
        'NaN'
    )
ORDER BY started_s, requests.number;

-- name: of_ip
-- The same of an address.
SELECT hosts.name, jobs.name, owners.name, ips.name, purpose, url, started_s, ended_s, status,
       outcome, floor_s, robots_at_s, robots_line
FROM names AS ips
JOIN requests ON requests.ip = ips.number
JOIN names AS hosts ON hosts.number = requests.host
JOIN names AS jobs ON jobs.number = requests.job
JOIN names AS owners ON owners.number = requests.owner
WHERE ips.name = :name AND started_s > :after_s
    AND started_s <= COALESCE(
        (
            SELECT started_s FROM requests
            WHERE ip = (SELECT number FROM names WHERE name = :name) AND started_s > :after_s
            ORDER BY started_s
            LIMIT 1 OFFSET :many - 1
        ),
        'NaN'
    )
ORDER BY started_s, requests.number;
