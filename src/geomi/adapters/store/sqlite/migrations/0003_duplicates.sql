-- Pages with much the same text are found by a sketch, across the jobs of a tenant. Pages of older
-- stores have none until they are fetched again.

-- A tenant's page, replaced at each visit. `number` stays and tells which page was kept first;
-- `capture` is the newest capture of it; `duplicate_reason` is NULL where it repeats no other.
CREATE TABLE pages_with_sketch (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    url_hash BLOB NOT NULL,
    capture INTEGER NOT NULL,
    url TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    fetched_at_s REAL NOT NULL,
    due_s REAL NOT NULL,
    content_hash TEXT NOT NULL,
    html_hash TEXT NOT NULL,
    exact_key BLOB NOT NULL,
    simhash INTEGER NOT NULL,
    sketch BLOB NOT NULL,
    words INTEGER NOT NULL,
    record_segment TEXT NOT NULL,
    record_offset INTEGER NOT NULL,
    record_length INTEGER NOT NULL,
    response_segment TEXT,
    response_offset INTEGER,
    response_length INTEGER,
    etag TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    title TEXT NOT NULL,
    duplicate_of TEXT NOT NULL,
    duplicate_reason TEXT,
    strategy TEXT NOT NULL,
    confidence REAL NOT NULL,
    UNIQUE (tenant, url_hash)
);
INSERT INTO pages_with_sketch (
    tenant, url_hash, capture, url, final_url, status, content_type, fetched_at_s, due_s,
    content_hash, html_hash, exact_key, simhash, sketch, words,
    record_segment, record_offset, record_length,
    response_segment, response_offset, response_length,
    etag, last_modified, title, duplicate_of, duplicate_reason, strategy, confidence
)
SELECT tenant, url_hash, capture, url, final_url, status, content_type, fetched_at_s, due_s,
       content_hash, html_hash, exact_key, simhash, x'', 0,
       record_segment, record_offset, record_length,
       response_segment, response_offset, response_length,
       etag, last_modified, title, duplicate_of,
       CASE WHEN duplicate_of = '' THEN NULL WHEN near THEN 'near' ELSE 'exact' END, '', 0
FROM pages
ORDER BY capture;
DROP TABLE pages;
ALTER TABLE pages_with_sketch RENAME TO pages;

-- Where pages are found that repeat no other: the keys of their sketches, which hold the tenant.
DROP TABLE bands;
CREATE TABLE bands (
    band INTEGER NOT NULL,
    page INTEGER NOT NULL,
    PRIMARY KEY (band, page)
) WITHOUT ROWID;

-- Similar pages are no longer found by their captures; of the same ones in a job, the first is.
ALTER TABLE captures DROP COLUMN simhash;
