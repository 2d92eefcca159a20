-- The order `weighted`, and how much may wait.

-- What a URL that waits was given by the pages that link to it; NULL where the job's order keeps
-- none, so that it costs other orders nothing, and the indexes of it neither.
ALTER TABLE entries ADD COLUMN cash REAL;
CREATE INDEX entries_oldest ON entries (queue) WHERE state = 'pending' AND cash IS NOT NULL;
CREATE INDEX entries_of_pattern ON entries (queue, pattern)
    WHERE state = 'pending' AND pattern IS NOT NULL;

-- `importance` is its share in the order, NULL where the order keeps no cash; `root` is the cash
-- that belongs to no URL; the limits repeat the config where settlements need it, 0 is none.
ALTER TABLE jobs ADD COLUMN importance REAL;
ALTER TABLE jobs ADD COLUMN root REAL NOT NULL DEFAULT 1;
ALTER TABLE jobs ADD COLUMN max_queued INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN max_queued_per_host INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN max_queued_per_pattern INTEGER NOT NULL DEFAULT 0;

-- Which domains are visited most, for every tenant; `edition` tells a list from the one before.
CREATE TABLE ranks (
    name TEXT PRIMARY KEY,
    rank INTEGER NOT NULL,
    edition INTEGER NOT NULL
) WITHOUT ROWID;
