-- name: add
-- Put something into a drawer, if its name is free.
INSERT INTO drawers (tenant, drawer, name, body, revision, due_at_s)
VALUES (:tenant, :drawer, :name, :body, 1, :due_at_s)
ON CONFLICT DO NOTHING;

-- name: change
-- Write a slip that nobody has changed since it was read.
UPDATE drawers
SET body = :body, due_at_s = :due_at_s, revision = revision + 1
WHERE tenant = :tenant AND drawer = :drawer AND name = :name AND revision = :revision;

-- name: get
-- One slip.
SELECT /* columns */
FROM drawers
WHERE tenant = :tenant AND drawer = :drawer AND name = :name;

-- name: list
-- A drawer in the order of names.
SELECT /* columns */
FROM drawers
WHERE tenant = :tenant AND drawer = :drawer AND name > :after
ORDER BY name
LIMIT :many;

-- name: list_backwards
-- A drawer from its end, or from before a name.
SELECT /* columns */
FROM drawers
WHERE tenant = :tenant AND drawer = :drawer AND (:after = '' OR name < :after)
ORDER BY name DESC
LIMIT :many;

-- name: remove
-- Remove a slip that nobody has changed since it was read.
DELETE FROM drawers
WHERE tenant = :tenant AND drawer = :drawer AND name = :name AND revision = :revision;

-- name: count
-- How many things are in a drawer.
SELECT COUNT(*) FROM drawers WHERE tenant = :tenant AND drawer = :drawer;

-- name: due
-- What is due in the drawers of a name, for every tenant.
SELECT /* columns */
FROM drawers
WHERE drawer = :drawer AND due_at_s <= :wall_s
ORDER BY due_at_s, tenant, name
LIMIT :many;

-- name: next_due
-- When the first thing of the drawers of a name is due.
SELECT MIN(due_at_s) FROM drawers WHERE drawer = :drawer AND due_at_s IS NOT NULL;
