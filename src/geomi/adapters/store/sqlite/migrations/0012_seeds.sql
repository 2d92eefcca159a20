-- The seed engine: what waits to be done in the datasets of each tenant, and what became of it.

CREATE TABLE seed_datasets (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (tenant, name)
);

-- What messages are about. A task stays when they are done: it is counted by its `state`. `ready_s` is
-- when it may be lent, NULL where no message waits; while `owner` holds it, when its loan passes.
-- `urls` to `duration_ms` are what it has come to.
CREATE TABLE seed_tasks (
    number INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL,
    queue TEXT NOT NULL,
    task TEXT NOT NULL,
    country TEXT NOT NULL,
    category TEXT NOT NULL,
    date TEXT NOT NULL,
    state TEXT NOT NULL,
    ready_s REAL,
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0,
    urls INTEGER NOT NULL DEFAULT 0,
    robots INTEGER,
    sitemap INTEGER,
    duration_ms INTEGER NOT NULL DEFAULT 0,
    UNIQUE (dataset, queue, task)
);
CREATE INDEX seed_tasks_ready ON seed_tasks (dataset, queue, ready_s, task)
WHERE ready_s IS NOT NULL;
CREATE INDEX seed_tasks_lent ON seed_tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX seed_tasks_tally
ON seed_tasks (dataset, queue, country, category, date, state, robots, sitemap, duration_ms);

-- What waits, and what nobody tries any more: that has a `letter`, by which it is found, and says why
-- in `error` (JSON). `lent` is the token of the loan it is part of, 0 where it is in none. `dataset` is
-- its task's, `size` that of its body.
CREATE TABLE seed_messages (
    number INTEGER PRIMARY KEY,
    task INTEGER NOT NULL,
    dataset INTEGER NOT NULL,
    name TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    losses INTEGER NOT NULL DEFAULT 0,
    due_s REAL NOT NULL,
    lent INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL,
    letter TEXT,
    error TEXT,
    UNIQUE (task, name)
);
CREATE UNIQUE INDEX seed_letters ON seed_messages (dataset, letter) WHERE letter IS NOT NULL;

-- What messages say, apart from them: whoever changes a row writes all of it, and these may be large.
CREATE TABLE seed_bodies (
    message INTEGER PRIMARY KEY,
    body BLOB NOT NULL
);
CREATE TRIGGER seed_bodies_go AFTER DELETE ON seed_messages
BEGIN
    DELETE FROM seed_bodies WHERE message = OLD.number;
END;
