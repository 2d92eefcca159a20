-- Who works on the store, for every tenant; `jobs` is a JSON array. A worker that is silent for
-- longer than `silence_s` is dead.
CREATE TABLE workers (
    owner TEXT PRIMARY KEY,
    machine TEXT NOT NULL,
    root TEXT NOT NULL,
    pid INTEGER NOT NULL,
    role TEXT NOT NULL,
    version TEXT NOT NULL,
    started_s REAL NOT NULL,
    beat_s REAL NOT NULL,
    silence_s REAL NOT NULL,
    jobs TEXT NOT NULL,
    pages INTEGER NOT NULL,
    pages_per_s REAL NOT NULL
) WITHOUT ROWID;

-- What only one of them may do at a time, and until when it is theirs.
CREATE TABLE duties (
    duty TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until_s REAL NOT NULL
) WITHOUT ROWID;
