-- name: lock
-- The number of a job of this tenant; nobody else changes the job until the commit.
SELECT number FROM jobs WHERE id = :job AND tenant = :tenant FOR UPDATE;

-- name: line_up
-- Let one job of a tenant begin at a time. 3: the class of these locks.
SELECT pg_advisory_xact_lock(3, hashtext(:tenant));
