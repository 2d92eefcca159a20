-- What was in hand when processes died, and how many did.
CREATE TABLE suspects (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    name BLOB NOT NULL,
    label TEXT NOT NULL,
    deaths INTEGER NOT NULL,
    owner TEXT NOT NULL,
    noted_s REAL NOT NULL,
    PRIMARY KEY (tenant, kind, name)
) WITHOUT ROWID;

-- Of the URLs that failed: how many kill whatever reads them.
ALTER TABLE jobs ADD COLUMN poisoned INTEGER NOT NULL DEFAULT 0;
