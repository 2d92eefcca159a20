-- Recrawls: which crawl a job visits again, how pages changed, and who sweeps.

-- The first job of the crawl that a job visits again; empty for a first job.
ALTER TABLE jobs ADD COLUMN crawl TEXT NOT NULL DEFAULT '';

-- How a tenant's pages changed; a page has a row from its second visit on. `watched_s` is the time
-- that its changes belong to; `gone_at_s` and `missed_at_s` are NULL for most.
CREATE TABLE histories (
    tenant TEXT NOT NULL,
    url_hash BLOB NOT NULL,
    visited_at_s REAL NOT NULL,
    visits INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    streak INTEGER NOT NULL,
    watched_s REAL NOT NULL,
    changed_at_s REAL,
    gone_at_s REAL,
    missed_at_s REAL,
    PRIMARY KEY (tenant, url_hash)
) WITHOUT ROWID;

-- What a page was before: the digest of its content, and when that was there last.
CREATE TABLE versions (
    tenant TEXT NOT NULL,
    url_hash BLOB NOT NULL,
    seen_s REAL NOT NULL,
    content_hash TEXT NOT NULL,
    PRIMARY KEY (tenant, url_hash, seen_s)
) WITHOUT ROWID;

-- What the pages of a host told together, and those of one pattern on it; '' is all of them.
CREATE TABLE pools (
    tenant TEXT NOT NULL,
    host TEXT NOT NULL,
    pattern TEXT NOT NULL,
    changes REAL NOT NULL,
    watched_s REAL NOT NULL,
    found REAL NOT NULL,
    expected REAL NOT NULL,
    at_s REAL NOT NULL,
    PRIMARY KEY (tenant, host, pattern)
) WITHOUT ROWID;

-- Who may sweep a crawl now.
CREATE TABLE sweeps (
    tenant TEXT NOT NULL,
    crawl TEXT NOT NULL,
    owner TEXT NOT NULL,
    until_s REAL NOT NULL,
    PRIMARY KEY (tenant, crawl)
) WITHOUT ROWID;
