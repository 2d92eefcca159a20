-- Requests by minute, of each domain: the empty name stands for all requests together.
CREATE TABLE request_windows (
    domain TEXT NOT NULL,
    minute INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (domain, minute)
) WITHOUT ROWID;
INSERT INTO request_windows (domain, minute, count) SELECT '', minute, count FROM windows;
DROP TABLE windows;
ALTER TABLE request_windows RENAME TO windows;
CREATE INDEX windows_by_minute ON windows (minute);

-- The URLs of a job that are worked on before it pauses; number 0 is no batch.
ALTER TABLE jobs ADD COLUMN batch_number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN batch_size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN batch_end INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN batch_failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN batch_ready_s REAL NOT NULL DEFAULT 0;
