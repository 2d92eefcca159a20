-- Admission, politeness and what people decided about sites.

-- Sitemaps have depths of their own; a pattern names the endless space that a URL may belong to
-- (NULL for most); a sitemap may say when a page changed last.
ALTER TABLE entries ADD COLUMN nesting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN pattern TEXT;
ALTER TABLE entries ADD COLUMN lastmod_s REAL;

-- `max_hosts` repeats the config where claims need it; 0 is no limit.
ALTER TABLE jobs ADD COLUMN provider TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN max_hosts INTEGER NOT NULL DEFAULT 0;

-- What the URLs of one pattern have brought so far.
CREATE TABLE patterns (
    queue INTEGER NOT NULL,
    pattern TEXT NOT NULL,
    visited INTEGER NOT NULL,
    stale_links INTEGER NOT NULL,
    stale_text INTEGER NOT NULL,
    text_mark BLOB NOT NULL,
    stale_growth INTEGER NOT NULL,
    PRIMARY KEY (queue, pattern)
) WITHOUT ROWID;

-- Hosts, addresses, jobs and owners of the request log: each would stand in every row, and twice
-- more in its indexes. Numbers stay valid for good.
CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- Every request that was sent, whoever sent it: written once, never changed, kept when its job is
-- deleted, because politeness is owed to the site. `ip` is NULL where no address is known.
CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    job INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    ip INTEGER,
    purpose TEXT NOT NULL,
    url TEXT NOT NULL,
    started_s REAL NOT NULL,
    ended_s REAL NOT NULL,
    status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    floor_s REAL NOT NULL,
    robots_at_s REAL,
    robots_line INTEGER
);
CREATE INDEX requests_of_host ON requests (host, started_s);
CREATE INDEX requests_of_ip ON requests (ip, started_s) WHERE ip IS NOT NULL;

-- How many requests were permitted in each minute of scheduling time, for all jobs with a cap.
CREATE TABLE windows (
    minute INTEGER PRIMARY KEY,
    count INTEGER NOT NULL
);

-- URLs of a tenant that are left alone because their site said no; `until_s` NULL is for good.
CREATE TABLE blocked_urls (
    tenant TEXT NOT NULL,
    url_hash BLOB NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    reason TEXT NOT NULL,
    since_s REAL NOT NULL,
    until_s REAL,
    PRIMARY KEY (tenant, url_hash)
) WITHOUT ROWID;

-- What a tenant's people decided about a host, or about one pattern on it.
CREATE TABLE site_rules (
    tenant TEXT NOT NULL,
    host TEXT NOT NULL,
    pattern TEXT NOT NULL,
    review TEXT NOT NULL,
    note TEXT NOT NULL,
    since_s REAL NOT NULL,
    PRIMARY KEY (tenant, host, pattern)
) WITHOUT ROWID;

-- The providers a tenant has registered; `provider` is JSON.
CREATE TABLE providers (
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    provider TEXT NOT NULL,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;

-- What was erased at a provider's request: the line that is left of it.
CREATE TABLE takedowns (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_s REAL NOT NULL,
    jobs INTEGER NOT NULL,
    pages INTEGER NOT NULL
);
CREATE INDEX takedowns_newest ON takedowns (tenant, at_s);

-- What the pages of a host repeat, as JSON; NULL before its first page.
ALTER TABLE hosts ADD COLUMN template TEXT;
