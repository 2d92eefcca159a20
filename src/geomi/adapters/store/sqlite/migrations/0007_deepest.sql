-- How deep the deepest URL of a queue lies, or lay once. A link found at that depth or deeper brings
-- nothing nearer, so that its key alone says whether it is new, and no entry is read.
ALTER TABLE queues ADD COLUMN deepest INTEGER NOT NULL DEFAULT 0;
UPDATE queues SET deepest = COALESCE(
    (SELECT MAX(depth) FROM entries WHERE entries.queue = queues.number), 0
);
