-- The first schema. Jobs and queues have numbers, because their names would stand in every key;
-- numbers are never used twice, so what a process remembers of one can never mean another.

-- Facts about the store itself.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One run of a crawl. `is_active`: neither paused nor over. `delay_s`, `crawl_delay_cap_s`,
-- `max_pages` and `per_ip` repeat the config where claims need it; the counters change only in the
-- transaction that changes what they count.
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    seeds TEXT NOT NULL,
    config TEXT NOT NULL,
    origins TEXT NOT NULL,
    created_at_s REAL NOT NULL,
    state TEXT NOT NULL,
    paused INTEGER NOT NULL,
    started_at_s REAL,
    ended_at_s REAL,
    active_s REAL NOT NULL,
    stop TEXT,
    error TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    delay_s REAL NOT NULL,
    crawl_delay_cap_s REAL NOT NULL,
    max_pages INTEGER NOT NULL,
    per_ip INTEGER NOT NULL,
    pending INTEGER NOT NULL DEFAULT 0,
    completed INTEGER NOT NULL DEFAULT 0,
    discovered INTEGER NOT NULL DEFAULT 0,
    settled INTEGER NOT NULL DEFAULT 0,
    collected INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    blocked INTEGER NOT NULL DEFAULT 0,
    redirected INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0,
    requests INTEGER NOT NULL DEFAULT 0,
    bytes_received INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX jobs_newest ON jobs (tenant, created_at_s);

-- Politeness and lease of name:port, for every job and tenant: it is owed to the site.
CREATE TABLE hosts (
    host TEXT PRIMARY KEY,
    last_end_s REAL NOT NULL,
    crawl_delay_s REAL,
    backoff_s REAL NOT NULL,
    errors INTEGER NOT NULL,
    latency_s REAL NOT NULL,
    ip TEXT,
    next_s REAL NOT NULL,
    token INTEGER NOT NULL,
    owner TEXT,
    job TEXT,
    leased INTEGER NOT NULL,
    lease_until_s REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX hosts_lent ON hosts (job) WHERE lease_until_s > 0;
CREATE INDEX hosts_lent_ip ON hosts (ip) WHERE lease_until_s > 0;

-- One job's URLs on one host. `ready_s`: when a claim looks at it next, never later than it could
-- be served (a second at most for a crowded address).
CREATE TABLE queues (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    host TEXT NOT NULL,
    job INTEGER NOT NULL,
    pending INTEGER NOT NULL DEFAULT 0,
    ready_s REAL NOT NULL,
    served_s REAL NOT NULL DEFAULT 0,
    UNIQUE (host, job)
);
CREATE INDEX queues_ready ON queues (job, ready_s, host) WHERE pending > 0;

-- One URL of one job. Rows lie in the order of discovery; the unique key is a small index of its
-- own, clustered by host, and decides whether a URL is new.
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    url_hash BLOB NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    parent TEXT,
    origin TEXT,
    hops INTEGER NOT NULL,
    discovered_s REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    attempts INTEGER NOT NULL DEFAULT 0,
    due_s REAL NOT NULL DEFAULT 0,
    settled_s REAL,
    outcome TEXT,
    status INTEGER,
    detail TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX entries_key ON entries (queue, url_hash);
CREATE INDEX entries_next ON entries (queue, priority DESC) WHERE state = 'pending' AND due_s = 0;
CREATE INDEX entries_later ON entries (queue, due_s) WHERE state = 'pending' AND due_s > 0;

-- How often a rule kept a link out; `examples` is a JSON array.
CREATE TABLE exclusions (
    job INTEGER NOT NULL,
    rule TEXT NOT NULL,
    count INTEGER NOT NULL,
    examples TEXT NOT NULL,
    PRIMARY KEY (job, rule)
) WITHOUT ROWID;

-- A tenant's page, replaced at each visit. `capture` is the newest capture of it.
CREATE TABLE pages (
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
    near INTEGER NOT NULL,
    PRIMARY KEY (tenant, url_hash)
);

-- What a job collected, in the order of commits: the feed of every derived output. `exact_key` and
-- `simhash` are empty where later pages are not to be compared with it.
CREATE TABLE captures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER NOT NULL,
    url_hash BLOB NOT NULL,
    url TEXT NOT NULL,
    record_segment TEXT NOT NULL,
    record_offset INTEGER NOT NULL,
    record_length INTEGER NOT NULL,
    response_segment TEXT,
    response_offset INTEGER,
    response_length INTEGER,
    exact_key BLOB,
    simhash INTEGER
);
CREATE INDEX captures_feed ON captures (job);
CREATE INDEX captures_twins ON captures (job, exact_key) WHERE exact_key IS NOT NULL;

-- The slices of each capture's simhash.
CREATE TABLE bands (
    job INTEGER NOT NULL,
    band INTEGER NOT NULL,
    capture INTEGER NOT NULL,
    PRIMARY KEY (job, band, capture)
) WITHOUT ROWID;

-- How far a derived output has come.
CREATE TABLE cursors (
    job INTEGER NOT NULL,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (job, name)
) WITHOUT ROWID;

-- The newest robots.txt of an authority, for every tenant.
CREATE TABLE robots (
    scheme TEXT NOT NULL,
    host TEXT NOT NULL,
    token TEXT NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    fetched_s REAL NOT NULL,
    failure TEXT,
    detail TEXT NOT NULL,
    max_age_s REAL,
    redirects INTEGER NOT NULL,
    PRIMARY KEY (scheme, host, token)
);
