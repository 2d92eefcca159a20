-- Small things kept by name, a drawer for each kind: `body` is JSON, `revision` counts its changes,
-- `due_at_s` is when somebody has to look at it (wall clock), NULL where nobody has to. The system's
-- own drawers have an empty tenant.
CREATE TABLE drawers (
    tenant TEXT NOT NULL,
    drawer TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    due_at_s REAL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant, drawer, name)
);
CREATE INDEX drawers_due ON drawers (drawer, due_at_s) WHERE due_at_s IS NOT NULL;
