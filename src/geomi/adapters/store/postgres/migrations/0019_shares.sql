-- The captures of a job that a process works on, after `seq` and up to `last`; another may have them
-- when `until_s` is over. The cursor of the work stands behind all that was ever lent.
CREATE TABLE shares (
    job bigint NOT NULL,
    last bigint NOT NULL,
    seq bigint NOT NULL,
    until_s double precision NOT NULL,
    name text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    PRIMARY KEY (job, name, last)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
