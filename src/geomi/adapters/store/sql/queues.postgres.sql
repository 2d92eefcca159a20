-- name: add_task
-- Make tasks known; messages of them follow.
INSERT INTO seed_tasks (dataset, queue, task, country, category, date, state)
SELECT dataset, queue, task, country, category, date, /* task pending */
FROM unnest(
    :dataset::bigint[], :queue::text[], :task::text[], :country::text[], :category::text[],
    :date::text[]
) AS given (dataset, queue, task, country, category, date)
ON CONFLICT DO NOTHING;

-- name: task
-- Some tasks, locked in one order, and the token of the last loan of each.
SELECT seed_tasks.number, seed_tasks.queue, seed_tasks.task, seed_tasks.token
FROM unnest(:dataset::bigint[], :queue::text[], :task::text[]) AS given (dataset, queue, task)
JOIN seed_tasks
    ON seed_tasks.dataset = given.dataset
    AND seed_tasks.queue = given.queue AND seed_tasks.task = given.task
ORDER BY seed_tasks.number
FOR UPDATE OF seed_tasks;

-- name: add
-- Let messages wait that do not; dead ones begin anew.
INSERT INTO seed_messages (task, dataset, name, due_s, body)
SELECT task, dataset, name, due_s, body
FROM unnest(:task::bigint[], :dataset::bigint[], :name::text[], :due_s::float8[], :body::bytea[])
    AS given (task, dataset, name, due_s, body)
ON CONFLICT (task, name) DO UPDATE
SET attempts = 0, losses = 0, lent = 0, due_s = excluded.due_s, letter = NULL, error = NULL,
    body = excluded.body
WHERE seed_messages.letter IS NOT NULL
RETURNING task, name;

-- name: put_body
-- What a message says stands in its row.
SELECT 1;

-- name: wake
-- Messages wait for tasks again; one that is lent is not lent again before.
UPDATE seed_tasks
SET state = /* task pending */,
    ready_s = CASE WHEN owner IS NULL THEN (
        SELECT MIN(due_s)
        FROM seed_messages
        WHERE seed_messages.task = seed_tasks.number AND letter IS NULL
    ) ELSE ready_s END
WHERE number = ANY(:task::bigint[]);

-- name: due_tasks
-- Tasks that may be lent, longest due first; one that somebody else is looking at is left out.
SELECT number, task, country, category, date, token
FROM seed_tasks
WHERE dataset = :dataset AND queue = :queue AND ready_s <= :now_s
ORDER BY ready_s, task
LIMIT :many
FOR UPDATE SKIP LOCKED;

-- name: due_messages
-- The messages of a task that are due, with their sizes.
SELECT task, name, octet_length(body)
FROM seed_messages
WHERE task = :task AND letter IS NULL AND due_s <= :now_s
ORDER BY name
LIMIT :many;

-- name: lent
-- The messages of a loan.
SELECT task, name, attempts, losses, due_s, body
FROM seed_messages
WHERE task = :task AND lent = :token
ORDER BY name;

-- name: done
-- Messages of a loan are finished.
DELETE FROM seed_messages
USING unnest(:task::bigint[], :token::bigint[], :name::text[]) AS given (task, token, name)
WHERE seed_messages.task = given.task AND lent = given.token AND seed_messages.name = given.name;

-- name: later
-- Messages of a loan failed and are tried again.
UPDATE seed_messages
SET attempts = attempts + 1, due_s = given.due_s, lent = 0
FROM unnest(:task::bigint[], :token::bigint[], :name::text[], :due_s::float8[])
    AS given (task, token, name, due_s)
WHERE seed_messages.task = given.task AND lent = given.token AND seed_messages.name = given.name;

-- name: back
-- Messages of a loan wait as before.
UPDATE seed_messages
SET lent = 0
FROM unnest(:task::bigint[], :token::bigint[], :name::text[]) AS given (task, token, name)
WHERE seed_messages.task = given.task AND lent = given.token AND seed_messages.name = given.name;

-- name: letter
-- One dead letter.
SELECT letter, error, queue, seed_tasks.task, country, category, date,
       name, attempts, losses, due_s, body
FROM seed_messages
JOIN seed_tasks ON seed_tasks.number = seed_messages.task
WHERE seed_messages.dataset = :dataset AND letter = :letter;

-- name: task_of
-- The task of a dead message, locked.
SELECT number
FROM seed_tasks
WHERE number = (SELECT task FROM seed_messages WHERE dataset = :dataset AND letter = :letter)
FOR UPDATE;
