-- Tenants: what a job's pages are for, what a tenant may use and has used, and what became of jobs.

-- The collection that a job of the service fills; empty for a job of the command line.
ALTER TABLE jobs ADD COLUMN collection text COLLATE "C" NOT NULL DEFAULT '';

-- Jobs are listed by their ids, which tell when they were made; all of them, those of a collection,
-- or those in a state. No index holds a counter, so that a change of one stays on its
-- page. The tenant stands first in one of them alone, for the same reason as with documents.
CREATE INDEX jobs_by_id ON jobs (tenant, id);
CREATE INDEX jobs_of_collection ON jobs (collection, tenant, id);
CREATE INDEX jobs_of_state ON jobs (state, tenant, id);

-- What a tenant may use at most, 0 is no limit, and what the archive keeps for it. A tenant without a
-- row has no limit, and nothing of it is counted.
CREATE TABLE quotas (
    max_concurrent_crawls bigint NOT NULL,
    max_waiting bigint NOT NULL,
    max_daily_pages bigint NOT NULL,
    max_storage_bytes bigint NOT NULL,
    stored_bytes bigint NOT NULL,
    tenant text COLLATE "C" PRIMARY KEY
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- How many pages were taken for it on each day (UTC). Each day is counted by itself: a clock that was
-- wrong for a while spoils no other day.
CREATE TABLE quota_days (
    pages bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, day)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- What became of each job, step by step: `n` counts within the job, `body` is JSON, `is_told` says
-- whether somebody was told of it, or nobody has to be.
CREATE TABLE journal (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job bigint NOT NULL,
    n bigint NOT NULL,
    at_s double precision NOT NULL,
    is_told boolean NOT NULL,
    kind text COLLATE "C" NOT NULL,
    body text NOT NULL,
    UNIQUE (job, n)
);
CREATE INDEX journal_untold ON journal (number) WHERE NOT is_told;

-- A job's documents are counted by their index alone.
DROP INDEX documents_of_job;
CREATE INDEX documents_of_job ON documents (job, tenant, id) INCLUDE (state, chunks);
