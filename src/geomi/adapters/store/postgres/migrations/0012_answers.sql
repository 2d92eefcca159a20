-- What the last answer of a URL was and how long; NULL where none came. Only new visits write it.
ALTER TABLE entries
    ADD COLUMN media_type text COLLATE "C",
    ADD COLUMN body_bytes bigint;
