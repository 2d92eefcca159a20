-- name: get
-- One page of a tenant.
SELECT url_hash, url, final_url, status, content_type, fetched_at_s, due_s,
       content_hash, html_hash, exact_key, simhash, sketch, words,
       record_segment, record_offset, record_length,
       response_segment, response_offset, response_length,
       etag, last_modified, title, duplicate_of, duplicate_reason, strategy, confidence
FROM pages
WHERE tenant = %(tenant)s AND url_hash = %(url_hash)s;

-- name: twins
-- The first page of a job that was kept under each exact key, and what it repeats itself.
SELECT asked.exact_key, first.url,
       COALESCE(
           (
               SELECT duplicate_of FROM pages
               WHERE pages.tenant = %(tenant)s AND pages.url_hash = first.url_hash
           ),
           ''
       ),
       first.url_hash
FROM unnest(%(exact_keys)b::bytea[]) AS asked (exact_key)
CROSS JOIN LATERAL (
    SELECT url, url_hash
    FROM captures
    WHERE captures.job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
        AND captures.exact_key IS NOT NULL AND captures.exact_key = asked.exact_key
    ORDER BY captures.seq
    LIMIT 1
) AS first;

-- name: near
-- The pages that share a band, of each band the newest, oldest first. They are found by their
-- numbers alone; the tenant is looked at then, because two tenants may share a band by chance.
SELECT pages.url, pages.sketch, pages.duplicate_of, pages.url_hash, pages.exact_key
FROM (
    SELECT DISTINCT found.page
    FROM unnest(%(bands)b::integer[]) AS asked (band)
    CROSS JOIN LATERAL (
        SELECT page FROM bands WHERE bands.band = asked.band ORDER BY page DESC LIMIT %(many)s
    ) AS found
) AS shared
JOIN pages ON pages.number = shared.page
WHERE pages.tenant || '' = %(tenant)s
ORDER BY pages.number;

-- name: feed
-- Captures of a job after a cursor, in the order of commits.
SELECT seq, url, record_segment, record_offset, record_length,
       response_segment, response_offset, response_length
FROM captures
WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
    AND seq > %(after)s
ORDER BY seq
LIMIT %(many)s;

-- name: cursor
-- How far a derived output has come.
SELECT seq, length
FROM cursors
WHERE job = (SELECT number FROM jobs WHERE id = %(job)s AND tenant = %(tenant)s)
    AND name = %(name)s;

-- name: advance
-- Write how far a derived output has come, unless it was rewound meanwhile.
INSERT INTO cursors (job, name, seq, length) VALUES (%(job)s, %(name)s, %(seq)s, %(length)s)
ON CONFLICT (job, name) DO UPDATE SET seq = excluded.seq, length = excluded.length
WHERE cursors.seq = %(after)s;

-- name: before
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

-- name: put
-- Write pages in place of their last visits; their numbers stay.
INSERT INTO pages (
    url_hash, url, final_url, status, content_type, fetched_at_s, due_s,
    content_hash, html_hash, exact_key, simhash, sketch, words,
    record_segment, record_offset, record_length,
    response_segment, response_offset, response_length,
    etag, last_modified, title, duplicate_of, duplicate_reason, strategy, confidence,
    number, tenant
)
SELECT new.*, %(tenant)s
FROM unnest(
    %(url_hash)b::bytea[], %(url)b::text[], %(final_url)b::text[], %(status)b::integer[],
    %(content_type)b::text[], %(fetched_at_s)b::float8[], %(due_s)b::float8[],
    %(content_hash)b::text[], %(html_hash)b::text[], %(exact_key)b::bytea[],
    %(simhash)b::bigint[], %(sketch)b::bytea[], %(words)b::integer[],
    %(record_segment)b::text[], %(record_offset)b::bigint[], %(record_length)b::bigint[],
    %(response_segment)b::text[], %(response_offset)b::bigint[], %(response_length)b::bigint[],
    %(etag)b::text[], %(last_modified)b::text[], %(title)b::text[], %(duplicate_of)b::text[],
    %(duplicate_reason)b::text[], %(strategy)b::text[], %(confidence)b::float8[],
    %(number)b::bigint[]
) AS new
ON CONFLICT (tenant, url_hash) DO UPDATE
SET url = excluded.url, final_url = excluded.final_url,
    status = excluded.status, content_type = excluded.content_type,
    fetched_at_s = excluded.fetched_at_s, due_s = excluded.due_s,
    content_hash = excluded.content_hash, html_hash = excluded.html_hash,
    exact_key = excluded.exact_key, simhash = excluded.simhash, sketch = excluded.sketch,
    words = excluded.words,
    record_segment = excluded.record_segment, record_offset = excluded.record_offset,
    record_length = excluded.record_length, response_segment = excluded.response_segment,
    response_offset = excluded.response_offset, response_length = excluded.response_length,
    etag = excluded.etag, last_modified = excluded.last_modified, title = excluded.title,
    duplicate_of = excluded.duplicate_of, duplicate_reason = excluded.duplicate_reason,
    strategy = excluded.strategy, confidence = excluded.confidence
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

-- name: visited
-- When pages were fetched last, and when they are due; each is looked up by itself.
SELECT found.*
FROM unnest(%(hashes)b::bytea[]) AS asked (url_hash)
CROSS JOIN LATERAL (
    SELECT pages.url_hash, fetched_at_s, due_s
    FROM pages
    WHERE tenant = %(tenant)s AND pages.url_hash = asked.url_hash
    OFFSET 0
) AS found;
