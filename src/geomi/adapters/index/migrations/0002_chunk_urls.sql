-- The page that a chunk was taken from, where its document names others than itself.
ALTER TABLE chunks ADD COLUMN url TEXT NOT NULL DEFAULT '';
