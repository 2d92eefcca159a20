-- name: numbers
-- The numbers of names.
SELECT name, number FROM names WHERE name = ANY(%(names)b::text[]);

-- name: new_names
-- Give names their numbers.
INSERT INTO names (name)
SELECT name FROM unnest(%(names)b::text[]) AS new (name)
ORDER BY name COLLATE "C"
ON CONFLICT DO NOTHING;

-- name: write
-- Write requests down, unless these very ones were written before; of erased pages they have no URL.
INSERT INTO requests (
    host, job, owner, ip, purpose, url, started_s, ended_s, status, outcome, floor_s,
    robots_at_s, robots_line
)
SELECT host, job, owner, ip, purpose, url, started_s, ended_s, status, outcome, floor_s,
       robots_at_s, robots_line
FROM unnest(
    %(host)b::bigint[], %(job)b::bigint[], %(owner)b::bigint[], %(ip)b::bigint[],
    %(purpose)b::text[], %(url)b::text[], %(started_s)b::float8[], %(ended_s)b::float8[],
    %(status)b::integer[], %(outcome)b::text[], %(floor_s)b::float8[],
    %(robots_at_s)b::float8[], %(robots_line)b::integer[]
) WITH ORDINALITY AS sent (
    host, job, owner, ip, purpose, url, started_s, ended_s, status, outcome, floor_s,
    robots_at_s, robots_line, place
)
WHERE NOT EXISTS (
    SELECT 1 FROM requests AS before
    WHERE before.host = sent.host AND before.started_s = sent.started_s
        AND before.ended_s = sent.ended_s AND before.url IN (sent.url, '') AND before.job = sent.job
        AND before.owner = sent.owner
)
ORDER BY place;

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
-- A host's requests after a time; those that started at the same moment are not torn apart.
SELECT hosts.name, jobs.name, owners.name, ips.name, purpose, url, started_s, ended_s, status,
       outcome, floor_s, robots_at_s, robots_line
FROM names AS hosts
JOIN requests ON requests.host = hosts.number
JOIN names AS jobs ON jobs.number = requests.job
JOIN names AS owners ON owners.number = requests.owner
LEFT JOIN names AS ips ON ips.number = requests.ip
WHERE hosts.name = %(name)s AND started_s > %(after_s)s
    AND started_s <= COALESCE(
        (
            SELECT started_s FROM requests
            WHERE host = (SELECT number FROM names WHERE name = %(name)s)
                AND started_s > %(after_s)s
            ORDER BY started_s
            LIMIT 1 OFFSET %(many)s - 1
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
WHERE ips.name = %(name)s AND started_s > %(after_s)s
    AND started_s <= COALESCE(
        (
            SELECT started_s FROM requests
            WHERE ip = (SELECT number FROM names WHERE name = %(name)s)
                AND started_s > %(after_s)s
            ORDER BY started_s
            LIMIT 1 OFFSET %(many)s - 1
        ),
        'NaN'
    )
ORDER BY started_s, requests.number;
