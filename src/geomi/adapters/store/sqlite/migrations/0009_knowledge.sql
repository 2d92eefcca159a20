-- One page of one collection, and what was understood of it: `analysis` is JSON, `capture` its place
-- in the feed of its job, `quality` NULL where nobody looked. A collection is counted by its index
-- alone, without a look at the analyses.
CREATE TABLE documents (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    url_hash BLOB NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    collection TEXT NOT NULL,
    site TEXT NOT NULL,
    job TEXT NOT NULL,
    capture INTEGER NOT NULL,
    version TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    page_type TEXT NOT NULL,
    language TEXT NOT NULL,
    quality REAL,
    chunks INTEGER NOT NULL,
    updated_at_s REAL NOT NULL,
    analysis BLOB NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX documents_of_collection ON documents (tenant, collection, id, state, chunks);
CREATE INDEX documents_of_site ON documents (tenant, site, id);
CREATE INDEX documents_of_job ON documents (tenant, job, id);
CREATE INDEX documents_of_page ON documents (tenant, url_hash);

-- What models did for a job, day by day: kept when the job is deleted, because it was paid.
-- `micros` are millionths of a dollar.
CREATE TABLE costs (
    tenant TEXT NOT NULL,
    job TEXT NOT NULL,
    day TEXT NOT NULL,
    purpose TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    PRIMARY KEY (tenant, job, day, purpose, provider, model)
) WITHOUT ROWID;
