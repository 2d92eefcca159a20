-- Tenants: what a job's pages are for, what a tenant may use and has used, and what became of jobs.

-- The collection that a job of the service fills; empty for a job of the command line.
ALTER TABLE jobs ADD COLUMN collection TEXT NOT NULL DEFAULT '';

-- Jobs are listed by their ids, which tell when they were made; all of them, those of a collection,
-- or those in a state. No index holds a counter, so that counting costs nothing.
CREATE INDEX jobs_by_id ON jobs (tenant, id);
CREATE INDEX jobs_of_collection ON jobs (collection, tenant, id);
CREATE INDEX jobs_of_state ON jobs (state, tenant, id);

-- What a tenant may use at most, 0 is no limit, and what the archive keeps for it. A tenant without a
-- row has no limit, and nothing of it is counted.
CREATE TABLE quotas (
    tenant TEXT PRIMARY KEY,
    max_concurrent_crawls INTEGER NOT NULL,
    max_waiting INTEGER NOT NULL,
    max_daily_pages INTEGER NOT NULL,
    max_storage_bytes INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL
) WITHOUT ROWID;

-- How many pages were taken for it on each day (UTC). Each day is counted by itself: a clock that was
-- wrong for a while spoils no other day.
CREATE TABLE quota_days (
    tenant TEXT NOT NULL,
    day TEXT NOT NULL,
    pages INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
) WITHOUT ROWID;

-- What became of each job, step by step: `n` counts within the job, `body` is JSON, `is_told` says
-- whether somebody was told of it, or nobody has to be.
CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at_s REAL NOT NULL,
    is_told INTEGER NOT NULL,
    UNIQUE (job, n)
);
CREATE INDEX journal_untold ON journal (number) WHERE NOT is_told;

-- A job's documents are counted by their index alone.
DROP INDEX documents_of_job;
CREATE INDEX documents_of_job ON documents (tenant, job, id, state, chunks);
