-- name: dataset
-- The number of a dataset.
SELECT number FROM seed_datasets WHERE tenant = :tenant AND name = :dataset;

-- name: add_dataset
-- Make a dataset known; somebody else may do so at the same moment.
INSERT INTO seed_datasets (tenant, name) VALUES (:tenant, :dataset) ON CONFLICT DO NOTHING;

-- name: add_task
-- Make a task known; a message of it follows.
INSERT INTO seed_tasks (dataset, queue, task, country, category, date, state)
VALUES (:dataset, :queue, :task, :country, :category, :date, /* task pending */)
ON CONFLICT DO NOTHING;

-- name: task
-- A task, and the token of its last loan; nobody else changes it until the commit.
SELECT number, queue, task, token
FROM seed_tasks
WHERE dataset = :dataset AND queue = :queue AND task = :task;

-- name: add
-- Let a message wait, if it does not; a dead one begins anew.
INSERT INTO seed_messages (task, dataset, name, due_s, size)
VALUES (:task, :dataset, :name, :due_s, :size)
ON CONFLICT (task, name) DO UPDATE
SET attempts = 0, losses = 0, lent = 0, due_s = excluded.due_s, letter = NULL, error = NULL,
    size = excluded.size
WHERE letter IS NOT NULL
RETURNING task, name;

-- name: put_body
-- Write what a message says.
INSERT OR REPLACE INTO seed_bodies (message, body)
SELECT number, :body FROM seed_messages WHERE task = :task AND name = :name;

-- name: wake
-- A message waits for a task again; one that is lent is not lent again before.
UPDATE seed_tasks
SET state = /* task pending */,
    ready_s = CASE WHEN owner IS NULL THEN (
        SELECT MIN(due_s) FROM seed_messages WHERE task = :task AND letter IS NULL
    ) ELSE ready_s END
WHERE number = :task;

-- name: next_ready
-- When the first task of a queue can be lent.
SELECT MIN(ready_s)
FROM seed_tasks
WHERE dataset = :dataset AND queue = :queue AND ready_s IS NOT NULL;

-- name: due_tasks
-- Tasks that may be lent, longest due first.
SELECT number, task, country, category, date, token
FROM seed_tasks
WHERE dataset = :dataset AND queue = :queue AND ready_s <= :now_s
ORDER BY ready_s, task
LIMIT :many;

-- name: lose
-- The loan of a task has passed: whoever held its messages was lost.
UPDATE seed_messages SET losses = losses + 1, lent = 0 WHERE task = :task AND lent <> 0;

-- name: due_messages
-- The messages of a task that are due, with their sizes.
SELECT task, name, size
FROM seed_messages
WHERE task = :task AND letter IS NULL AND due_s <= :now_s
ORDER BY name
LIMIT :many;

-- name: lend
-- Make the due messages of a task, up to a name, part of a loan.
UPDATE seed_messages
SET lent = :token
WHERE task = :task AND letter IS NULL AND due_s <= :now_s AND name <= :last;

-- name: lent
-- The messages of a loan.
SELECT task, name, attempts, losses, due_s, body
FROM seed_messages
JOIN seed_bodies ON seed_bodies.message = seed_messages.number
WHERE task = :task AND lent = :token
ORDER BY name;

-- name: hold
-- Write a loan.
UPDATE seed_tasks SET token = :token, owner = :owner, ready_s = :until_s WHERE number = :task;

-- name: renew
-- Prolong a loan that was not given back.
UPDATE seed_tasks
SET ready_s = :until_s
WHERE number = :task AND token = :token AND owner IS NOT NULL;

-- name: pass
-- End the loans of an owner that is dead, of every tenant: they have passed.
UPDATE seed_tasks SET ready_s = :now_s WHERE owner = :owner AND ready_s > :now_s;

-- name: done
-- A message of a loan is finished.
DELETE FROM seed_messages WHERE task = :task AND lent = :token AND name = :name;

-- name: later
-- A message of a loan failed and is tried again.
UPDATE seed_messages
SET attempts = attempts + 1, due_s = :due_s, lent = 0
WHERE task = :task AND lent = :token AND name = :name;

-- name: back
-- A message of a loan waits as before.
UPDATE seed_messages SET lent = 0 WHERE task = :task AND lent = :token AND name = :name;

-- name: bury
-- A message of a loan is not tried again.
UPDATE seed_messages
SET attempts = :attempts, lent = 0, letter = :letter, error = :error
WHERE task = :task AND lent = :token AND name = :name;

-- name: worked
-- What a lent task has come to.
UPDATE seed_tasks
SET urls = :urls, robots = :robots, sitemap = :sitemap, duration_ms = :duration_ms
WHERE number = :task AND owner IS NOT NULL;

-- name: close
-- Give a lent task back once no message of its loan is left, and say how it stands.
UPDATE seed_tasks
SET owner = NULL,
    ready_s = (SELECT MIN(due_s) FROM seed_messages WHERE task = :task AND letter IS NULL),
    state = CASE
        WHEN EXISTS (SELECT 1 FROM seed_messages WHERE task = :task AND letter IS NULL)
            THEN /* task pending */
        WHEN EXISTS (SELECT 1 FROM seed_messages WHERE task = :task AND letter IS NOT NULL)
            THEN /* task failed */
        ELSE /* task processed */
    END
WHERE number = :task AND owner IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM seed_messages WHERE task = :task AND lent = :token);

-- name: depth
-- Messages of tasks that nobody works on, of tasks that somebody does, and those that are dead.
SELECT
    (
        SELECT COUNT(*)
        FROM seed_tasks
        JOIN seed_messages ON seed_messages.task = seed_tasks.number AND letter IS NULL
        WHERE seed_tasks.dataset = :dataset AND queue = :queue AND ready_s IS NOT NULL
            AND (owner IS NULL OR ready_s <= :now_s)
    ),
    (
        SELECT COUNT(*)
        FROM seed_tasks
        JOIN seed_messages ON seed_messages.task = seed_tasks.number AND letter IS NULL
        WHERE seed_tasks.dataset = :dataset AND queue = :queue AND ready_s > :now_s
            AND owner IS NOT NULL
    ),
    (
        SELECT COUNT(*)
        FROM seed_messages
        JOIN seed_tasks ON seed_tasks.number = seed_messages.task
        WHERE seed_messages.dataset = :dataset AND letter IS NOT NULL AND queue = :queue
    );

-- name: tally
-- Tasks of some partitions by state, what was found, and how long they took.
SELECT COUNT(*) FILTER (WHERE state = /* task processed */),
       COUNT(*) FILTER (WHERE state = /* task failed */),
       COUNT(*) FILTER (WHERE state = /* task pending */),
       COUNT(*) FILTER (WHERE robots),
       COUNT(*) FILTER (WHERE sitemap),
       AVG(duration_ms) FILTER (WHERE state = /* task processed */)
FROM seed_tasks
WHERE dataset = :dataset AND queue = :queue /* conditions */;

-- name: letters
-- Dead letters after one, without their bodies.
SELECT letter, error, queue, seed_tasks.task, country, category, date,
       name, attempts, losses, due_s
FROM seed_messages
JOIN seed_tasks ON seed_tasks.number = seed_messages.task
WHERE seed_messages.dataset = :dataset AND letter > :after
ORDER BY letter
LIMIT :many;

-- name: letter
-- One dead letter.
SELECT letter, error, queue, seed_tasks.task, country, category, date,
       name, attempts, losses, due_s, body
FROM seed_messages
JOIN seed_bodies ON seed_bodies.message = seed_messages.number
JOIN seed_tasks ON seed_tasks.number = seed_messages.task
WHERE seed_messages.dataset = :dataset AND letter = :letter;

-- name: task_of
-- The task of a dead message; nobody else changes it until the commit.
SELECT task FROM seed_messages WHERE dataset = :dataset AND letter = :letter;

-- name: revive
-- Let a dead message wait again, from the beginning.
UPDATE seed_messages
SET attempts = 0, losses = 0, lent = 0, due_s = :now_s, letter = NULL, error = NULL
WHERE dataset = :dataset AND letter = :letter;

-- name: drop
-- Forget a dead message.
DELETE FROM seed_messages WHERE dataset = :dataset AND letter = :letter;

-- name: forget
-- A failed task of one queue is not counted any more once its last letter is gone.
UPDATE seed_tasks
SET state = /* task dropped */
WHERE number = :task AND queue = :forgets AND state = /* task failed */
    AND NOT EXISTS (SELECT 1 FROM seed_messages WHERE task = :task);

-- name: erase_messages
-- Forget every message of a tenant.
DELETE FROM seed_messages
WHERE task IN (
    SELECT number FROM seed_tasks
    WHERE dataset IN (SELECT number FROM seed_datasets WHERE tenant = :tenant)
);

-- name: erase_tasks
-- Forget every task of a tenant.
DELETE FROM seed_tasks
WHERE dataset IN (SELECT number FROM seed_datasets WHERE tenant = :tenant);

-- name: erase_datasets
-- Forget every dataset of a tenant.
DELETE FROM seed_datasets WHERE tenant = :tenant;
