-- name: add
-- Put something into a drawer, if its name is free.
INSERT INTO drawers (tenant, drawer, name, body, revision, due_at_s)
VALUES (%(tenant)s, %(drawer)s, %(name)s, %(body)s, 1, %(due_at_s)s)
ON CONFLICT DO NOTHING;

-- name: change
-- Write a slip that nobody has changed since it was read.
UPDATE drawers
SET body = %(body)s, due_at_s = %(due_at_s)s, revision = revision + 1
WHERE tenant = %(tenant)s AND drawer = %(drawer)s AND name = %(name)s AND revision = %(revision)s;

-- name: get
-- One slip.
SELECT tenant, drawer, name, body, revision, due_at_s
FROM drawers
WHERE tenant = %(tenant)s AND drawer = %(drawer)s AND name = %(name)s;

-- name: list
-- A drawer in the order of names.
SELECT tenant, drawer, name, body, revision, due_at_s
FROM drawers
WHERE tenant = %(tenant)s AND drawer = %(drawer)s AND name > %(after)s
ORDER BY name
LIMIT %(many)s;

-- name: list_backwards
-- A drawer from its end, or from before a name.
SELECT tenant, drawer, name, body, revision, due_at_s
FROM drawers
WHERE tenant = %(tenant)s AND drawer = %(drawer)s AND (%(after)s = '' OR name < %(after)s)
ORDER BY name DESC
LIMIT %(many)s;

-- name: remove
-- Remove a slip that nobody has changed since it was read.
DELETE FROM drawers
WHERE tenant = %(tenant)s AND drawer = %(drawer)s AND name = %(name)s AND revision = %(revision)s;

-- name: count
-- How many things are in a drawer.
SELECT COUNT(*) FROM drawers WHERE tenant = %(tenant)s AND drawer = %(drawer)s;

-- name: due
-- What is due in the drawers of a name, for every tenant.
SELECT tenant, drawer, name, body, revision, due_at_s
FROM drawers
WHERE drawer = %(drawer)s AND due_at_s <= %(wall_s)s
ORDER BY due_at_s, tenant, name
LIMIT %(many)s;

-- name: next_due
-- When the first thing of the drawers of a name is due.
SELECT MIN(due_at_s) FROM drawers WHERE drawer = %(drawer)s AND due_at_s IS NOT NULL;
