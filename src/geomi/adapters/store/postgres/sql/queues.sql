-- name: dataset
-- The number of a dataset.
SELECT number FROM seed_datasets WHERE tenant = %(tenant)s AND name = %(dataset)s;

-- name: add_dataset
-- Make a dataset known; somebody else may do so at the same moment.
INSERT INTO seed_datasets (tenant, name) VALUES (%(tenant)s, %(dataset)s) ON CONFLICT DO NOTHING;

-- name: add_task
-- Make tasks known; messages of them follow.
INSERT INTO seed_tasks (dataset, queue, task, country, category, date, state)
SELECT %(dataset)s, queue, task, country, category, date, 'pending'
FROM unnest(
    %(queue)b::text[], %(task)b::text[], %(country)b::text[], %(category)b::text[], %(date)b::text[]
) AS given (queue, task, country, category, date)
ON CONFLICT DO NOTHING;

-- name: lock_tasks
-- Some tasks, locked in one order, however many send to them.
SELECT seed_tasks.number, seed_tasks.queue, seed_tasks.task
FROM unnest(%(queue)b::text[], %(task)b::text[]) AS given (queue, task)
JOIN seed_tasks
    ON seed_tasks.dataset = %(dataset)s
    AND seed_tasks.queue = given.queue AND seed_tasks.task = given.task
ORDER BY seed_tasks.number
FOR UPDATE OF seed_tasks;

-- name: task
-- A task, locked, and the token of its last loan.
SELECT number, token
FROM seed_tasks
WHERE dataset = %(dataset)s AND queue = %(queue)s AND task = %(task)s
FOR UPDATE;

-- name: add
-- Let messages wait that do not; dead ones begin anew. Return whose they are.
INSERT INTO seed_messages (task, dataset, name, due_s, body)
SELECT task, %(dataset)s, name, due_s, body
FROM unnest(%(task)b::bigint[], %(name)b::text[], %(due_s)b::float8[], %(body)b::bytea[])
    AS given (task, name, due_s, body)
ON CONFLICT (task, name) DO UPDATE
SET attempts = 0, losses = 0, lent = 0, due_s = excluded.due_s, letter = NULL, error = NULL,
    body = excluded.body
WHERE seed_messages.letter IS NOT NULL
RETURNING task;

-- name: wake
-- Messages wait for tasks again; one that is lent is not lent again before.
UPDATE seed_tasks
SET state = 'pending',
    ready_s = CASE WHEN owner IS NULL THEN (
        SELECT MIN(due_s)
        FROM seed_messages
        WHERE seed_messages.task = seed_tasks.number AND letter IS NULL
    ) ELSE ready_s END
WHERE number = ANY(%(tasks)b::bigint[]);

-- name: next_ready
-- When the first task of a queue can be lent.
SELECT MIN(ready_s)
FROM seed_tasks
WHERE dataset = %(dataset)s AND queue = %(queue)s AND ready_s IS NOT NULL;

-- name: due_tasks
-- Tasks that may be lent, longest due first; one that somebody else is looking at is left out.
SELECT number, task, country, category, date, token
FROM seed_tasks
WHERE dataset = %(dataset)s AND queue = %(queue)s AND ready_s <= %(now_s)s
ORDER BY ready_s, task
LIMIT %(many)s
FOR UPDATE SKIP LOCKED;

-- name: lose
-- The loans of tasks have passed: whoever held their messages was lost.
UPDATE seed_messages
SET losses = losses + 1, lent = 0
WHERE task = ANY(%(tasks)b::bigint[]) AND lent <> 0;

-- name: due_messages
-- The messages of each task that are due, with their sizes.
SELECT given.task, due.name, due.size
FROM unnest(%(tasks)b::bigint[]) AS given (task)
CROSS JOIN LATERAL (
    SELECT name, octet_length(body) AS size
    FROM seed_messages
    WHERE seed_messages.task = given.task AND letter IS NULL AND due_s <= %(now_s)s
    ORDER BY name
    LIMIT %(many)s
) AS due
ORDER BY given.task, due.name;

-- name: lend
-- Make the due messages of each task, up to a name, part of its loan.
UPDATE seed_messages
SET lent = given.token
FROM unnest(%(task)b::bigint[], %(token)b::bigint[], %(last)b::text[])
    AS given (task, token, last)
WHERE seed_messages.task = given.task AND letter IS NULL AND due_s <= %(now_s)s
    AND name <= given.last
RETURNING seed_messages.task, name, attempts, losses, due_s, body;

-- name: hold
-- Write loans.
UPDATE seed_tasks
SET token = given.token, owner = %(owner)s, ready_s = %(until_s)s
FROM unnest(%(task)b::bigint[], %(token)b::bigint[]) AS given (task, token)
WHERE number = given.task;

-- name: renew
-- Prolong a loan that was not given back.
UPDATE seed_tasks
SET ready_s = %(until_s)s
WHERE number = %(task)s AND token = %(token)s AND owner IS NOT NULL;

-- name: pass
-- End the loans of owners that are dead, of every tenant: they have passed.
UPDATE seed_tasks
SET ready_s = %(now_s)s
WHERE owner = ANY(%(owners)b::text[]) AND ready_s > %(now_s)s;

-- name: done
-- Messages of a loan are finished.
DELETE FROM seed_messages
WHERE task = %(task)s AND lent = %(token)s AND name = ANY(%(names)b::text[]);

-- name: later
-- Messages of a loan failed and are tried again.
UPDATE seed_messages
SET attempts = attempts + 1, due_s = given.due_s, lent = 0
FROM unnest(%(name)b::text[], %(due_s)b::float8[]) AS given (name, due_s)
WHERE task = %(task)s AND lent = %(token)s AND seed_messages.name = given.name;

-- name: back
-- Messages of a loan wait as before.
UPDATE seed_messages
SET lent = 0
WHERE task = %(task)s AND lent = %(token)s AND name = ANY(%(names)b::text[]);

-- name: bury
-- A message of a loan is not tried again.
UPDATE seed_messages
SET attempts = %(attempts)s, lent = 0, letter = %(letter)s, error = %(error)s
WHERE task = %(task)s AND lent = %(token)s AND name = %(name)s;

-- name: worked
-- What a lent task has come to.
UPDATE seed_tasks
SET urls = %(urls)s, robots = %(robots)s, sitemap = %(sitemap)s, duration_ms = %(duration_ms)s
WHERE number = %(task)s AND owner IS NOT NULL;

-- name: close
-- Give a lent task back once no message of its loan is left, and say how it stands.
UPDATE seed_tasks
SET owner = NULL,
    ready_s = (SELECT MIN(due_s) FROM seed_messages WHERE task = %(task)s AND letter IS NULL),
    state = CASE
        WHEN EXISTS (SELECT 1 FROM seed_messages WHERE task = %(task)s AND letter IS NULL)
            THEN 'pending'
        WHEN EXISTS (SELECT 1 FROM seed_messages WHERE task = %(task)s AND letter IS NOT NULL)
            THEN 'failed'
        ELSE 'processed'
    END
WHERE number = %(task)s AND owner IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM seed_messages WHERE task = %(task)s AND lent = %(token)s);

-- name: depth
-- Messages of tasks that nobody works on, of tasks that somebody does, and those that are dead.
SELECT
    (
        SELECT COUNT(*)
        FROM seed_tasks
        JOIN seed_messages ON seed_messages.task = seed_tasks.number AND letter IS NULL
        WHERE seed_tasks.dataset = %(dataset)s AND queue = %(queue)s AND ready_s IS NOT NULL
            AND (owner IS NULL OR ready_s <= %(now_s)s)
    ),
    (
        SELECT COUNT(*)
        FROM seed_tasks
        JOIN seed_messages ON seed_messages.task = seed_tasks.number AND letter IS NULL
        WHERE seed_tasks.dataset = %(dataset)s AND queue = %(queue)s AND ready_s > %(now_s)s
            AND owner IS NOT NULL
    ),
    (
        SELECT COUNT(*)
        FROM seed_messages
        JOIN seed_tasks ON seed_tasks.number = seed_messages.task
        WHERE seed_messages.dataset = %(dataset)s AND letter IS NOT NULL AND queue = %(queue)s
    );

-- name: tally
-- Tasks of some partitions by state, what was found, and how long they took.
SELECT COUNT(*) FILTER (WHERE state = 'processed'),
       COUNT(*) FILTER (WHERE state = 'failed'),
       COUNT(*) FILTER (WHERE state = 'pending'),
       COUNT(*) FILTER (WHERE robots),
       COUNT(*) FILTER (WHERE sitemap),
       AVG(duration_ms::float8) FILTER (WHERE state = 'processed')
FROM seed_tasks
WHERE dataset = %(dataset)s AND queue = %(queue)s
    AND (%(country)s::text IS NULL OR country = %(country)s)
    AND (%(category)s::text IS NULL OR category = %(category)s)
    AND (%(date)s::text IS NULL OR date = %(date)s);

-- name: letters
-- Dead letters after one, without their bodies.
SELECT letter, error, queue, seed_tasks.task, country, category, date,
       name, attempts, losses, due_s, ''::bytea
FROM seed_messages
JOIN seed_tasks ON seed_tasks.number = seed_messages.task
WHERE seed_messages.dataset = %(dataset)s AND letter > %(after)s
ORDER BY letter
LIMIT %(many)s;

-- name: letter
-- One dead letter.
SELECT letter, error, queue, seed_tasks.task, country, category, date,
       name, attempts, losses, due_s, body
FROM seed_messages
JOIN seed_tasks ON seed_tasks.number = seed_messages.task
WHERE seed_messages.dataset = %(dataset)s AND letter = %(letter)s;

-- name: task_of
-- The task of a dead message, locked.
SELECT number
FROM seed_tasks
WHERE number = (
    SELECT task FROM seed_messages WHERE dataset = %(dataset)s AND letter = %(letter)s
)
FOR UPDATE;

-- name: revive
-- Let a dead message wait again, from the beginning.
UPDATE seed_messages
SET attempts = 0, losses = 0, lent = 0, due_s = %(now_s)s, letter = NULL, error = NULL
WHERE dataset = %(dataset)s AND letter = %(letter)s;

-- name: drop
-- Forget a dead message.
DELETE FROM seed_messages WHERE dataset = %(dataset)s AND letter = %(letter)s;

-- name: forget
-- A failed task of one queue is not counted any more once its last letter is gone.
UPDATE seed_tasks
SET state = 'dropped'
WHERE number = %(task)s AND queue = %(forgets)s AND state = 'failed'
    AND NOT EXISTS (SELECT 1 FROM seed_messages WHERE task = %(task)s);

-- name: erase_messages
-- Forget every message of a tenant.
DELETE FROM seed_messages
WHERE task IN (
    SELECT number FROM seed_tasks
    WHERE dataset IN (SELECT number FROM seed_datasets WHERE tenant = %(tenant)s)
);

-- name: erase_tasks
-- Forget every task of a tenant.
DELETE FROM seed_tasks
WHERE dataset IN (SELECT number FROM seed_datasets WHERE tenant = %(tenant)s);

-- name: erase_datasets
-- Forget every dataset of a tenant.
DELETE FROM seed_datasets WHERE tenant = %(tenant)s;
