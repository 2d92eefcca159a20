-- name: visited
-- How the entries of some visits stand, with their queues and what their jobs say about settling
-- them, and first of each this transaction's number in the order of all that add something. Each is
-- looked up by itself, whatever the planner knows of the tables; a job once, because its row may
-- have a long past.
WITH turn (number) AS MATERIALIZED (SELECT nextval('turns')),
held AS MATERIALIZED (
    SELECT jobs.*
    FROM (SELECT DISTINCT id FROM unnest(%(jobs)b::text[]) AS given (id)) AS given
    CROSS JOIN LATERAL (
        SELECT id, number, importance, root, pending,
               max_queued, max_queued_per_host, max_queued_per_pattern
        FROM jobs
        WHERE jobs.id = given.id AND tenant = %(tenant)s
        OFFSET 0
    ) AS jobs
)
SELECT turn.number, asked.job, asked.host, queues.number, asked.url_hash, state, attempts,
       jobs.number, importance, root, pending,
       max_queued, max_queued_per_host, max_queued_per_pattern
FROM turn
CROSS JOIN unnest(%(jobs)b::text[], %(hosts)b::text[], %(hashes)b::bytea[])
    AS asked (job, host, url_hash)
JOIN held AS jobs ON jobs.id = asked.job
LEFT JOIN LATERAL (
    SELECT number FROM queues WHERE host = asked.host AND job = jobs.number OFFSET 0
) AS queues ON true
LEFT JOIN LATERAL (
    SELECT state, attempts FROM entries
    WHERE queue = queues.number AND entries.url_hash = asked.url_hash
    OFFSET 0
) AS entries ON true;

-- name: close
-- Write the ends of visits, retries too; their entries are locked. A page that came nearer while it
-- was lent is opened again at once: its links were taken from farther away.
UPDATE entries
SET state = CASE
        WHEN done.state IN (/* entry before reopen */) AND kind = 'page'
            AND entries.depth < done.depth
        THEN /* entry after reopen */ ELSE done.state
    END,
    outcome = done.outcome, status = done.status, detail = done.detail,
    media_type = done.media_type, body_bytes = done.body_bytes,
    settled_s = done.settled_s, due_s = done.due_s, attempts = attempts + 1
FROM unnest(
    %(queue)b::bigint[], %(url_hash)b::bytea[], %(state)b::text[], %(depth)b::integer[],
    %(outcome)b::text[], %(status)b::integer[], %(detail)b::text[], %(settled_s)b::float8[],
    %(due_s)b::float8[], %(media_type)b::text[], %(body_bytes)b::bigint[]
) AS done (
    queue, url_hash, state, depth, outcome, status, detail, settled_s, due_s, media_type,
    body_bytes
)
WHERE entries.queue = done.queue AND entries.url_hash = done.url_hash
    AND entries.state IN (/* entry before settle */)
RETURNING entries.queue, entries.url_hash, entries.state;

-- name: shrink
-- Entries of queues have ended, and requests for pages were answered.
UPDATE queues
SET pending = pending - done.ended, answers = queues.answers + done.answers,
    answer_s = queues.answer_s + done.answer_s
FROM unnest(
    %(queues)b::bigint[], %(ended)b::bigint[], %(answers)b::bigint[], %(answer_s)b::float8[]
) AS done (queue, ended, answers, answer_s)
WHERE queues.number = done.queue;

-- name: count
-- Add the visits of one transaction to a job's counters, and number its captures: the row stays
-- locked until the commit, so that numbers follow commits.
UPDATE jobs
SET pending = pending - %(ended)s + %(new)s + %(reopened)s,
    completed = completed + %(completed)s - %(reopened)s,
    discovered = discovered + %(new)s,
    settled = settled + %(settled)s,
    collected = collected + %(collected)s,
    failed = failed + %(failed)s,
    skipped = skipped + %(skipped)s,
    blocked = blocked + %(blocked)s,
    redirected = redirected + %(redirected)s,
    duplicates = duplicates + %(duplicates)s,
    poisoned = poisoned + %(poisoned)s,
    retries = retries + %(retries)s,
    requests = requests + %(requests)s,
    bytes_received = bytes_received + %(bytes_received)s,
    captured = captured + %(captured)s
WHERE number = %(job)s
RETURNING captured;

-- name: captures
-- A job has collected pages.
INSERT INTO captures (
    job, url_hash, url, record_segment, record_offset, record_length,
    response_segment, response_offset, response_length, exact_key, seq
)
SELECT %(job)s, new.*
FROM unnest(
    %(url_hash)b::bytea[], %(url)b::text[], %(record_segment)b::text[],
    %(record_offset)b::bigint[], %(record_length)b::bigint[], %(response_segment)b::text[],
    %(response_offset)b::bigint[], %(response_length)b::bigint[], %(exact_key)b::bytea[],
    %(seq)b::bigint[]
) AS new;

-- name: exclude
-- Rules have kept links out; what is returned are the examples so far.
INSERT INTO exclusions (job, rule, count, examples)
SELECT job, rule, count, '[]'
FROM unnest(%(jobs)b::bigint[], %(rules)b::text[], %(counts)b::bigint[])
    AS found (job, rule, count)
ORDER BY job, rule COLLATE "C"
ON CONFLICT (job, rule) DO UPDATE SET count = exclusions.count + excluded.count
RETURNING job, rule, examples;

-- name: exemplify
-- Write the examples of rules; their rows are locked.
UPDATE exclusions SET examples = found.examples
FROM unnest(%(jobs)b::bigint[], %(rules)b::text[], %(examples)b::text[])
    AS found (job, rule, examples)
WHERE exclusions.job = found.job AND exclusions.rule = found.rule;

-- name: tallies
-- What patterns have brought so far.
SELECT patterns.queue, patterns.pattern, visited, stale_links, stale_text, text_mark, stale_growth
FROM unnest(%(queues)b::bigint[], %(patterns)b::text[]) AS asked (queue, pattern)
JOIN patterns ON patterns.queue = asked.queue AND md5(patterns.pattern) = md5(asked.pattern);

-- name: put_tallies
-- Write what patterns have brought.
INSERT INTO patterns (
    queue, pattern, visited, stale_links, stale_text, text_mark, stale_growth
)
SELECT *
FROM unnest(
    %(queue)b::bigint[], %(pattern)b::text[], %(visited)b::bigint[], %(stale_links)b::bigint[],
    %(stale_text)b::bigint[], %(text_mark)b::bytea[], %(stale_growth)b::bigint[]
)
ON CONFLICT (queue, md5(pattern)) DO UPDATE
SET visited = excluded.visited, stale_links = excluded.stale_links,
    stale_text = excluded.stale_text, text_mark = excluded.text_mark,
    stale_growth = excluded.stale_growth;

-- name: pages_before
-- Pages as their last visits left them, locked until the commit in the order of all; one by one,
-- because the planner might take a tenant's pages for few and read them all.
SELECT found.*
FROM (
    SELECT url_hash FROM unnest(%(hashes)b::bytea[]) AS given (url_hash) ORDER BY url_hash
) AS asked
CROSS JOIN LATERAL (
    SELECT pages.url_hash, number, sketch, duplicate_of
    FROM pages
    WHERE pages.tenant = %(tenant)s AND pages.url_hash = asked.url_hash
    FOR NO KEY UPDATE
) AS found;

-- name: put_pages
-- Write pages in place of their last visits; their numbers stay.
INSERT INTO pages (/* columns */, number, tenant)
SELECT new.*, %(tenant)s
FROM unnest(/* arrays */, %(number)b::bigint[]) AS new
ON CONFLICT (tenant, url_hash) DO UPDATE SET /* updates */
RETURNING url_hash, number;

-- name: find_by
-- Let similar pages find pages.
INSERT INTO bands (band, page)
SELECT band, page FROM unnest(%(bands)b::integer[], %(pages)b::bigint[]) AS new (band, page)
ORDER BY band, page
ON CONFLICT DO NOTHING;

-- name: lose
-- Let them find pages no more by what these said before.
DELETE FROM bands
USING unnest(%(bands)b::integer[], %(pages)b::bigint[]) AS old (band, page)
WHERE bands.band = old.band AND bands.page = old.page;

-- name: log
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
