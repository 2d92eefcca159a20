-- The captures of a job that a process works on, after `seq` and up to `last`; another may have them
-- when `until_s` is over. The cursor of the work stands behind all that was ever lent.
CREATE TABLE shares (
    job INTEGER NOT NULL,
    name TEXT NOT NULL,
    last INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    owner TEXT NOT NULL,
    until_s REAL NOT NULL,
    PRIMARY KEY (job, name, last)
) WITHOUT ROWID;
