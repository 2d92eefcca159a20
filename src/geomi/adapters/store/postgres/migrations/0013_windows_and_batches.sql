-- Requests by minute, of each domain: the empty name stands for all requests together.
ALTER TABLE windows ADD COLUMN domain text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE windows DROP CONSTRAINT windows_pkey;
ALTER TABLE windows ADD PRIMARY KEY (domain, minute);
CREATE INDEX windows_by_minute ON windows (minute);

-- The URLs of a job that are worked on before it pauses; number 0 is no batch.
ALTER TABLE jobs
    ADD COLUMN batch_number bigint NOT NULL DEFAULT 0,
    ADD COLUMN batch_size bigint NOT NULL DEFAULT 0,
    ADD COLUMN batch_end bigint NOT NULL DEFAULT 0,
    ADD COLUMN batch_failed bigint NOT NULL DEFAULT 0,
    ADD COLUMN batch_ready_s double precision NOT NULL DEFAULT 0;
