-- The first schema. Jobs and queues have numbers, because their names would stand in every key;
-- numbers are never used twice, so what a process remembers of one can never mean another. Names
-- are compared byte by byte (COLLATE "C"), whatever the database was made with. Columns stand in
-- the order of their sizes, so that nothing is lost between them.

-- How far the schema has come.
CREATE TABLE schema_steps (
    step integer PRIMARY KEY,
    done_at timestamptz NOT NULL DEFAULT now()
);

-- Facts about the store itself.
CREATE TABLE meta (
    key text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
);

-- One number for each transaction that adds URLs or pages; with a place in the transaction it is
-- their order, whatever the order they are written in.
CREATE SEQUENCE turns AS bigint;

-- One run of a crawl. `is_active`: neither paused nor over. `delay_s`, `crawl_delay_cap_s`,
-- `max_pages`, `max_hosts` and `per_ip` repeat the config where claims need it; the counters change
-- only in the transaction that changes what they count. `captured` numbers the captures of a job:
-- its row is locked until the commit, so that their order is the order of commits. `importance` is
-- its share in the order, NULL where the order keeps no cash, and `root` the cash that belongs to
-- no URL; the limits of what waits repeat the config too, 0 is none, and so do `keep_urls_s` and
-- `keep_job_s`, how long what it leaves is kept, 0 is for ever. `expired` is what has gone of it.
CREATE TABLE jobs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at_s double precision NOT NULL,
    started_at_s double precision,
    ended_at_s double precision,
    active_s double precision NOT NULL,
    delay_s double precision NOT NULL,
    crawl_delay_cap_s double precision NOT NULL,
    importance double precision,
    root double precision NOT NULL DEFAULT 1,
    keep_urls_s double precision NOT NULL,
    keep_job_s double precision NOT NULL,
    pending bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    discovered bigint NOT NULL DEFAULT 0,
    settled bigint NOT NULL DEFAULT 0,
    collected bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    blocked bigint NOT NULL DEFAULT 0,
    redirected bigint NOT NULL DEFAULT 0,
    duplicates bigint NOT NULL DEFAULT 0,
    retries bigint NOT NULL DEFAULT 0,
    requests bigint NOT NULL DEFAULT 0,
    bytes_received bigint NOT NULL DEFAULT 0,
    captured bigint NOT NULL DEFAULT 0,
    max_pages bigint NOT NULL,
    max_queued bigint NOT NULL,
    max_queued_per_host bigint NOT NULL,
    max_queued_per_pattern bigint NOT NULL,
    max_hosts integer NOT NULL,
    per_ip integer NOT NULL,
    paused boolean NOT NULL,
    is_active boolean NOT NULL,
    id text COLLATE "C" NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    seeds text NOT NULL,
    config text NOT NULL,
    origins text NOT NULL,
    state text NOT NULL,
    stop text,
    error text NOT NULL,
    provider text NOT NULL,
    crawl text COLLATE "C" NOT NULL,
    expired text COLLATE "C" NOT NULL DEFAULT ''
) WITH (
    -- Every settlement changes a row of this small table: half-empty pages keep the change on the
    -- page, and what is dead is taken away at once.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
    autovacuum_vacuum_cost_delay = 0
);

-- What waits in all is added up over the jobs that are not over. The index holds none of the counters,
-- so that a change of them stays on its page.
CREATE INDEX jobs_open ON jobs (number) WHERE state NOT IN ('completed', 'failed', 'cancelled');

-- Politeness and lease of name:port, for every job and tenant: it is owed to the site. `template`
-- is what its pages repeat, as JSON; NULL before its first page. The indexes ask `is_lent` and not
-- the time itself: a lease that is prolonged then changes no index, and its row stays on its page.
CREATE TABLE hosts (
    last_end_s double precision NOT NULL DEFAULT 0,
    crawl_delay_s double precision,
    backoff_s double precision NOT NULL DEFAULT 0,
    latency_s double precision NOT NULL DEFAULT 0,
    next_s double precision NOT NULL DEFAULT 0,
    lease_until_s double precision NOT NULL DEFAULT 0,
    token bigint NOT NULL DEFAULT 0,
    errors integer NOT NULL DEFAULT 0,
    leased integer NOT NULL DEFAULT 0,
    is_lent boolean NOT NULL GENERATED ALWAYS AS (lease_until_s > 0) STORED,
    host text COLLATE "C" PRIMARY KEY,
    ip text COLLATE "C",
    owner text COLLATE "C",
    job text COLLATE "C",
    template text
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX hosts_lent ON hosts (job) WHERE is_lent;
CREATE INDEX hosts_lent_ip ON hosts (ip) WHERE is_lent;

-- The jobs that were turned away from a crowded address: since when they wait for it, and when they
-- asked last. Most addresses have no line.
CREATE TABLE lines (
    job bigint NOT NULL,
    since_s double precision NOT NULL,
    seen_s double precision NOT NULL,
    ip text COLLATE "C" NOT NULL,
    PRIMARY KEY (ip, job)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- One job's URLs on one host. `ready_s`: when a claim looks at it next, never later than it could
-- be served (a second at most for a crowded address). `is_waiting` for the same reason as `is_lent`:
-- nearly every settlement changes how many URLs wait.
CREATE TABLE queues (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job bigint NOT NULL,
    pending bigint NOT NULL DEFAULT 0,
    ready_s double precision NOT NULL,
    served_s double precision NOT NULL DEFAULT 0,
    is_waiting boolean NOT NULL GENERATED ALWAYS AS (pending > 0) STORED,
    host text COLLATE "C" NOT NULL,
    UNIQUE (host, job)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX queues_of_job ON queues (job);
CREATE INDEX queues_ready ON queues (job, ready_s, host) WHERE is_waiting;

-- One URL of one job. The unique key is clustered by host, because a queue is of one host, and
-- decides whether a URL is new; what waits has small indexes of its own. `cash` is what a URL that
-- waits was given by the pages that link to it; NULL where the job's order keeps none, so that it
-- costs other orders nothing, and the index of the oldest neither.
CREATE TABLE entries (
    queue bigint NOT NULL,
    seq bigint NOT NULL,
    discovered_s double precision NOT NULL,
    due_s double precision NOT NULL DEFAULT 0,
    settled_s double precision,
    lastmod_s double precision,
    cash double precision,
    priority integer NOT NULL,
    depth integer NOT NULL,
    hops integer NOT NULL,
    nesting integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    status integer,
    url_hash bytea NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'pending',
    source text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    outcome text COLLATE "C",
    pattern text COLLATE "C",
    url text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    origin text COLLATE "C",
    detail text NOT NULL DEFAULT '',
    CONSTRAINT entries_key PRIMARY KEY (queue, url_hash)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02
);
CREATE INDEX entries_next ON entries (queue, priority DESC, seq)
    WHERE state = 'pending' AND due_s = 0;
CREATE INDEX entries_later ON entries (queue, due_s) WHERE state = 'pending' AND due_s > 0;
CREATE INDEX entries_oldest ON entries (queue, seq) WHERE state = 'pending' AND cash IS NOT NULL;
CREATE INDEX entries_of_pattern ON entries (queue, md5(pattern))
    WHERE state = 'pending' AND pattern IS NOT NULL;

-- What the URLs of one pattern have brought so far.
CREATE TABLE patterns (
    queue bigint NOT NULL,
    visited bigint NOT NULL,
    stale_links bigint NOT NULL,
    stale_text bigint NOT NULL,
    stale_growth bigint NOT NULL,
    text_mark bytea NOT NULL,
    pattern text COLLATE "C" NOT NULL
) WITH (fillfactor = 70);
-- A pattern may be as long as a URL, and an index holds no more than 2,704 bytes of one.
CREATE UNIQUE INDEX patterns_key ON patterns (queue, md5(pattern));

-- How often a rule kept a link out; `examples` is a JSON array.
CREATE TABLE exclusions (
    job bigint NOT NULL,
    count bigint NOT NULL,
    rule text COLLATE "C" NOT NULL,
    examples text NOT NULL,
    PRIMARY KEY (job, rule)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- A tenant's page, replaced at each visit. `number` stays and tells which page was kept first;
-- `duplicate_reason` is NULL where it repeats no other.
CREATE TABLE pages (
    number bigint PRIMARY KEY,
    fetched_at_s double precision NOT NULL,
    due_s double precision NOT NULL,
    simhash bigint NOT NULL,
    record_offset bigint NOT NULL,
    record_length bigint NOT NULL,
    response_offset bigint,
    response_length bigint,
    confidence double precision NOT NULL,
    words integer NOT NULL,
    status integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    url_hash bytea NOT NULL,
    exact_key bytea NOT NULL,
    sketch bytea NOT NULL,
    url text COLLATE "C" NOT NULL,
    final_url text COLLATE "C" NOT NULL,
    content_type text NOT NULL,
    content_hash text NOT NULL,
    html_hash text NOT NULL,
    record_segment text COLLATE "C" NOT NULL,
    response_segment text COLLATE "C",
    etag text NOT NULL,
    last_modified text NOT NULL,
    title text NOT NULL,
    duplicate_of text NOT NULL,
    duplicate_reason text,
    strategy text COLLATE "C" NOT NULL,
    UNIQUE (tenant, url_hash)
);

-- Where pages are found that repeat no other: the keys of their sketches, which hold the tenant.
CREATE TABLE bands (
    page bigint NOT NULL,
    band integer NOT NULL,
    PRIMARY KEY (band, page)
);

-- How a tenant's pages changed; a page has a row from its second visit on. `watched_s` is the time
-- that its changes belong to; `gone_at_s` and `missed_at_s` are NULL for most.
CREATE TABLE histories (
    visited_at_s double precision NOT NULL,
    watched_s double precision NOT NULL,
    changed_at_s double precision,
    gone_at_s double precision,
    missed_at_s double precision,
    visits integer NOT NULL,
    changes integer NOT NULL,
    streak integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    url_hash bytea NOT NULL,
    PRIMARY KEY (tenant, url_hash)
) WITH (fillfactor = 80);

-- What a page was before: the digest of its content, and when that was there last.
CREATE TABLE versions (
    seen_s double precision NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    url_hash bytea NOT NULL,
    content_hash text NOT NULL,
    PRIMARY KEY (tenant, url_hash, seen_s)
);

-- What the pages of a host told together, and those of one pattern on it; '' is all of them.
CREATE TABLE pools (
    changes double precision NOT NULL,
    watched_s double precision NOT NULL,
    found double precision NOT NULL,
    expected double precision NOT NULL,
    at_s double precision NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    pattern text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, host, pattern)
) WITH (fillfactor = 50);

-- Who may sweep a crawl now.
CREATE TABLE sweeps (
    until_s double precision NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    crawl text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, crawl)
) WITH (fillfactor = 50);

-- One page of one collection, and what was understood of it: `analysis` is JSON, `capture` its place
-- in the feed of its job, `quality` NULL where nobody looked.
CREATE TABLE documents (
    capture bigint NOT NULL,
    updated_at_s double precision NOT NULL,
    quality double precision,
    chunks integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    url_hash bytea NOT NULL,
    collection text COLLATE "C" NOT NULL,
    site text COLLATE "C" NOT NULL,
    job text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    version text NOT NULL,
    reason text NOT NULL,
    page_type text NOT NULL,
    language text NOT NULL,
    url text COLLATE "C" NOT NULL,
    title text NOT NULL,
    detail text NOT NULL,
    analysis bytea NOT NULL,
    PRIMARY KEY (tenant, id)
);
-- The tenant stands first in the key alone: plans are made while the table is empty, when any index
-- that begins with it would seem good enough for everything.
CREATE INDEX documents_of_collection ON documents (collection, tenant, id);
CREATE INDEX documents_of_site ON documents (site, tenant, id);
CREATE INDEX documents_of_job ON documents (job, tenant, id);
CREATE INDEX documents_of_page ON documents (url_hash);

-- What models did for a job, day by day: kept when the job is deleted, because it was paid.
-- `micros` are millionths of a dollar.
CREATE TABLE costs (
    calls bigint NOT NULL,
    failures bigint NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    micros bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    job text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    purpose text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, job, day, purpose, provider, model)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- What a job collected, in the order of commits: the feed of every derived output. `exact_key` is
-- NULL where later pages are not to be compared with it.
CREATE TABLE captures (
    job bigint NOT NULL,
    seq bigint NOT NULL,
    record_offset bigint NOT NULL,
    record_length bigint NOT NULL,
    response_offset bigint,
    response_length bigint,
    url_hash bytea NOT NULL,
    exact_key bytea,
    url text COLLATE "C" NOT NULL,
    record_segment text COLLATE "C" NOT NULL,
    response_segment text COLLATE "C",
    PRIMARY KEY (job, seq)
);
CREATE INDEX captures_twins ON captures (job, exact_key, seq) WHERE exact_key IS NOT NULL;

-- How far a derived output has come.
CREATE TABLE cursors (
    job bigint NOT NULL,
    seq bigint NOT NULL,
    length bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (job, name)
) WITH (fillfactor = 50);

-- The newest robots.txt of an authority, for every tenant.
CREATE TABLE robots (
    fetched_s double precision NOT NULL,
    max_age_s double precision,
    status integer NOT NULL,
    redirects integer NOT NULL,
    scheme text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL,
    failure text,
    detail text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (host, scheme, token)
);

-- Hosts, addresses, jobs and owners of the request log: each would stand in every row, and twice
-- more in its indexes. Numbers stay valid for good.
CREATE TABLE names (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);

-- Every request that was sent, whoever sent it: written once, never changed, kept when its job is
-- deleted, because politeness is owed to the site; it goes when its job's time is over. `ip` is NULL where no address is known.
CREATE TABLE requests (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host bigint NOT NULL,
    job bigint NOT NULL,
    owner bigint NOT NULL,
    ip bigint,
    started_s double precision NOT NULL,
    ended_s double precision NOT NULL,
    floor_s double precision NOT NULL,
    robots_at_s double precision,
    status integer NOT NULL,
    robots_line integer,
    purpose text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL
);
CREATE INDEX requests_of_host ON requests (host, started_s);
CREATE INDEX requests_of_ip ON requests (ip, started_s) WHERE ip IS NOT NULL;

-- How many requests were permitted in each minute of scheduling time, for all jobs with a cap.
CREATE TABLE windows (
    minute bigint PRIMARY KEY,
    count bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- URLs of a tenant that are left alone because their site said no; `until_s` NULL is for good.
CREATE TABLE blocked_urls (
    since_s double precision NOT NULL,
    until_s double precision,
    status integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    url_hash bytea NOT NULL,
    url text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (tenant, url_hash)
);

-- What a tenant's people decided about a host, or about one pattern on it.
CREATE TABLE site_rules (
    since_s double precision NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    pattern text COLLATE "C" NOT NULL,
    review text NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (tenant, host, pattern)
);

-- The providers a tenant has registered; `provider` is JSON.
CREATE TABLE providers (
    tenant text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    provider text NOT NULL,
    PRIMARY KEY (tenant, key)
);

-- What was erased at a provider's request: the line that is left of it.
CREATE TABLE takedowns (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_s double precision NOT NULL,
    jobs bigint NOT NULL,
    pages bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    name text NOT NULL,
    reason text NOT NULL
);
CREATE INDEX takedowns_newest ON takedowns (tenant, at_s);

-- Who works on the store, for every tenant; `jobs` is a JSON array. A worker that is silent for
-- longer than `silence_s` is dead.
CREATE TABLE workers (
    started_s double precision NOT NULL,
    beat_s double precision NOT NULL,
    silence_s double precision NOT NULL,
    pages_per_s double precision NOT NULL,
    pages bigint NOT NULL,
    pid integer NOT NULL,
    owner text COLLATE "C" PRIMARY KEY,
    machine text NOT NULL,
    root text NOT NULL,
    role text NOT NULL,
    version text NOT NULL,
    jobs text NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- What only one of them may do at a time, and until when it is theirs.
CREATE TABLE duties (
    until_s double precision NOT NULL,
    duty text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
-- Which domains are visited most, for every tenant; `edition` tells a list from the one before.
CREATE TABLE ranks (
    rank bigint NOT NULL,
    edition bigint NOT NULL,
    name text COLLATE "C" PRIMARY KEY
);
