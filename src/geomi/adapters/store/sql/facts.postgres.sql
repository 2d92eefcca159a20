-- name: lock
-- Let one process at a time change a fact. 4: the class of these locks.
SELECT pg_advisory_xact_lock(4, hashtext(:key));

-- name: lease_owners
-- Who has not given back all of their hosts.
SELECT DISTINCT owner FROM hosts WHERE is_lent AND owner IS NOT NULL ORDER BY owner;
