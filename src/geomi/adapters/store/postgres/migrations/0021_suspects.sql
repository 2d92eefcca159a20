-- What was in hand when processes died, and how many did.
CREATE TABLE suspects (
    tenant text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name bytea NOT NULL,
    label text NOT NULL,
    deaths bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    noted_s double precision NOT NULL,
    PRIMARY KEY (tenant, kind, name)
);

-- Of the URLs that failed: how many kill whatever reads them.
ALTER TABLE jobs ADD COLUMN poisoned bigint NOT NULL DEFAULT 0;
