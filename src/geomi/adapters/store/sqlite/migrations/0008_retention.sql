-- What is kept for a time. `keep_urls_s` and `keep_job_s` repeat the config where cleaning needs it, 0
-- is for ever; `expired` is what has gone of a job.
ALTER TABLE jobs ADD COLUMN keep_urls_s REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN keep_job_s REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN expired TEXT NOT NULL DEFAULT '';

-- A job's queues are forgotten a few at a time, and each time the next has to be found.
CREATE INDEX queues_of_job ON queues (job);

-- What waits in all is added up over the jobs that are not over. The index holds none of the counters,
-- so that counting costs nothing.
CREATE INDEX jobs_open ON jobs (number) WHERE state NOT IN ('completed', 'failed', 'cancelled');

-- The jobs that were turned away from a crowded address: since when they wait for it, and when they
-- asked last. Most addresses have no line.
CREATE TABLE lines (
    ip TEXT NOT NULL,
    job INTEGER NOT NULL,
    since_s REAL NOT NULL,
    seen_s REAL NOT NULL,
    PRIMARY KEY (ip, job)
) WITHOUT ROWID;
