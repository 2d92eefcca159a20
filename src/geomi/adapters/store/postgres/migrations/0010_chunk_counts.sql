-- How the chunks of a document came out: the indicators of its job are made of it.
-- Documents that are there already were not counted: their tokens are NULL.
ALTER TABLE documents ADD COLUMN chunk_tokens integer;
ALTER TABLE documents ADD COLUMN empty_chunks integer NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN repeated_chunks integer NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN smallest_chunk integer;
ALTER TABLE documents ADD COLUMN chunk_digests bytea NOT NULL DEFAULT '';
