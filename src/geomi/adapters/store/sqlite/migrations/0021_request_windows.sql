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
