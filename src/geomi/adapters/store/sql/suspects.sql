-- name: note
-- Count a death; that of one process counts once.
INSERT INTO suspects (tenant, /* columns */) VALUES (:tenant, /* values */)
ON CONFLICT (tenant, kind, name) DO UPDATE
SET deaths = suspects.deaths + 1, label = excluded.label, owner = excluded.owner,
    noted_s = excluded.noted_s
WHERE suspects.owner <> excluded.owner;

-- name: find
-- Work that processes were doing when they died.
SELECT /* columns */ FROM suspects WHERE tenant = :tenant AND kind = :kind AND name = :name;

-- name: list
-- All of a tenant; there are few.
SELECT /* columns */ FROM suspects
WHERE tenant = :tenant AND kind = :kind
ORDER BY name
LIMIT :many;

-- name: clear
-- It can be read after all.
DELETE FROM suspects WHERE tenant = :tenant AND kind = :kind AND name = :name;

-- name: forget
-- Old notes of every tenant.
DELETE FROM suspects WHERE noted_s < :before_s;
