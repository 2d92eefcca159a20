-- Requests by minute, of each domain: the empty name stands for all requests together.
ALTER TABLE windows ADD COLUMN domain text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE windows DROP CONSTRAINT windows_pkey;
ALTER TABLE windows ADD PRIMARY KEY (domain, minute);
CREATE INDEX windows_by_minute ON windows (minute);
