-- The seed engine: what waits to be done in the datasets of each tenant, and what became of it.

CREATE TABLE seed_datasets (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    UNIQUE (tenant, name)
);

-- What messages are about. A task stays when they are done: it is counted by its `state`. `ready_s` is
-- when it may be lent, NULL where no message waits; while `owner` holds it, when its loan passes.
-- `urls` to `duration_ms` are what it has come to.
CREATE TABLE seed_tasks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dataset bigint NOT NULL,
    token bigint NOT NULL DEFAULT 0,
    urls bigint NOT NULL DEFAULT 0,
    duration_ms bigint NOT NULL DEFAULT 0,
    ready_s double precision,
    robots boolean,
    sitemap boolean,
    queue text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    country text COLLATE "C" NOT NULL,
    category text COLLATE "C" NOT NULL,
    date text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    UNIQUE (dataset, queue, task)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX seed_tasks_ready ON seed_tasks (dataset, queue, ready_s, task)
WHERE ready_s IS NOT NULL;
CREATE INDEX seed_tasks_lent ON seed_tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX seed_tasks_tally
ON seed_tasks (dataset, queue, country, category, date) INCLUDE (state, robots, sitemap, duration_ms);

-- What waits, and what nobody tries any more: that has a `letter`, by which it is found, and says why
-- in `error` (JSON). `lent` is the token of the loan it is part of, 0 where it is in none. `dataset` is
-- its task's.
CREATE TABLE seed_messages (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task bigint NOT NULL,
    dataset bigint NOT NULL,
    attempts bigint NOT NULL DEFAULT 0,
    losses bigint NOT NULL DEFAULT 0,
    lent bigint NOT NULL DEFAULT 0,
    due_s double precision NOT NULL,
    name text COLLATE "C" NOT NULL,
    letter text COLLATE "C",
    error text,
    body bytea NOT NULL,
    UNIQUE (task, name)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE UNIQUE INDEX seed_letters ON seed_messages (dataset, letter) WHERE letter IS NOT NULL;
