-- Subscribed lists of domains that no crawl visits; the body is packed and read as a whole.
CREATE TABLE domain_lists (
    name TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    domains INTEGER NOT NULL,
    edition INTEGER NOT NULL,
    tried_s REAL NOT NULL,
    read_s REAL NOT NULL,
    answered_url TEXT NOT NULL,
    answered_tag TEXT NOT NULL,
    answered_date TEXT NOT NULL,
    problem TEXT NOT NULL,
    body BLOB NOT NULL
);
