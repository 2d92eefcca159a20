-- The region that a worker is in; empty: none.
ALTER TABLE workers ADD COLUMN region text COLLATE "C" NOT NULL DEFAULT '';

-- Which regions serve a job's hosts, as in its configuration; empty: it names none. Its queues are
-- labelled by the first claim that finds them: `?` until then. Queues of other jobs have no label,
-- and the index does not have them.
ALTER TABLE jobs ADD COLUMN regions text NOT NULL DEFAULT '';
ALTER TABLE queues ADD COLUMN region text COLLATE "C";
CREATE INDEX queues_by_region ON queues (job, region, ready_s, host)
WHERE region IS NOT NULL AND is_waiting;
