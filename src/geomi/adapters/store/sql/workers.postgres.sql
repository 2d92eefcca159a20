-- name: list
-- Every card with the hosts that were not given back, oldest first. Hosts that are lent have an index,
-- but none by their owner: they are read once for all workers.
SELECT /* columns */, COALESCE(held.hosts, 0)
FROM workers
LEFT JOIN (
    SELECT owner AS holder, COUNT(*) AS hosts FROM hosts WHERE is_lent GROUP BY owner
) AS held ON held.holder = workers.owner
ORDER BY started_s, owner;
