-- Subscribed lists of domains that no crawl visits; the body is packed and read as a whole.
CREATE TABLE domain_lists (
    name text COLLATE "C" PRIMARY KEY,
    source text NOT NULL,
    domains bigint NOT NULL,
    edition bigint NOT NULL,
    tried_s double precision NOT NULL,
    read_s double precision NOT NULL,
    answered_url text NOT NULL,
    answered_tag text NOT NULL,
    answered_date text NOT NULL,
    problem text NOT NULL,
    body bytea NOT NULL
);
