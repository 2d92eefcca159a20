-- The first schema. Numbers are never used twice, so what a process remembers of one can never mean
-- another.

-- Facts about the index itself.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- A page's version in a collection.
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    collection TEXT NOT NULL,
    site TEXT NOT NULL,
    job TEXT NOT NULL,
    page_type TEXT NOT NULL,
    language TEXT NOT NULL,
    date_s REAL NOT NULL,
    kept TEXT NOT NULL
);
CREATE INDEX documents_by_site ON documents (site);
CREATE INDEX documents_by_job ON documents (job);
CREATE INDEX documents_by_collection ON documents (collection);

-- Its parts. `text` is a preview where no more may be kept; `bag` then holds the words in
-- alphabetical order, compressed, because without them the chunk could not be taken out of `words`.
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    tokenizer TEXT NOT NULL,
    bag BLOB,
    UNIQUE (document, id)
);

-- What chunks are found by: tokens of our own, already apart. It holds no text.
CREATE VIRTUAL TABLE words USING fts5 (head, body, content = '', tokenize = "ascii tokenchars '_'");

CREATE TABLE embedders (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
);

-- 32-bit floats in the order of bytes of this machine's kind (little endian).
CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (embedder, chunk)
);
CREATE INDEX vectors_by_chunk ON vectors (chunk);
