-- name: add
-- Put a value into a namespace, if its name is free.
INSERT INTO named_values (tenant, namespace, name, body, revision, due_at_s)
VALUES (:tenant, :namespace, :name, :body, 1, :due_at_s)
ON CONFLICT DO NOTHING;

-- name: change
-- Write a value that nobody has changed since it was read.
UPDATE named_values
SET body = :body, due_at_s = :due_at_s, revision = revision + 1
WHERE tenant = :tenant AND namespace = :namespace AND name = :name AND revision = :revision;

-- name: get
-- One value.
SELECT /* columns */
FROM named_values
WHERE tenant = :tenant AND namespace = :namespace AND name = :name;

-- name: list
-- A namespace in the order of names.
SELECT /* columns */
FROM named_values
WHERE tenant = :tenant AND namespace = :namespace AND name > :after
ORDER BY name
LIMIT :many;

-- name: list_backwards
-- A namespace from its end, or from before a name.
SELECT /* columns */
FROM named_values
WHERE tenant = :tenant AND namespace = :namespace AND (:after = '' OR name < :after)
ORDER BY name DESC
LIMIT :many;

-- name: remove
-- Remove a value that nobody has changed since it was read.
DELETE FROM named_values
WHERE tenant = :tenant AND namespace = :namespace AND name = :name AND revision = :revision;

-- name: count
-- How many values are in a namespace.
SELECT COUNT(*) FROM named_values WHERE tenant = :tenant AND namespace = :namespace;

-- name: due
-- What is due in the namespaces of a name, for every tenant.
SELECT /* columns */
FROM named_values
WHERE namespace = :namespace AND due_at_s <= :wall_s
ORDER BY due_at_s, tenant, name
LIMIT :many;
