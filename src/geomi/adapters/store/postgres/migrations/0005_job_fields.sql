-- What a job is, in columns of its own. Until now `origins` said it by what its names began with: a list
-- of pairs, a name and where it came from. What is left there are names of settings.
ALTER TABLE jobs
    ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'crawl',
    ADD COLUMN channel text COLLATE "C" NOT NULL DEFAULT 'crawl',
    ADD COLUMN channel_why text NOT NULL DEFAULT '',
    ADD COLUMN library text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN library_name text NOT NULL DEFAULT '',
    ADD COLUMN profile text COLLATE "C" NOT NULL DEFAULT 'default',
    ADD COLUMN network text NOT NULL DEFAULT '[]',
    ADD COLUMN archive text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN directory text COLLATE "C" NOT NULL DEFAULT '';

UPDATE jobs SET kind = 'recrawl' WHERE crawl <> '';

CREATE TABLE said AS
SELECT jobs.number AS job, pair.place, pair.value AS pair,
    pair.value ->> 0 AS name, pair.value ->> 1 AS origin
FROM jobs, json_array_elements(jobs.origins::json) WITH ORDINALITY AS pair (value, place);

UPDATE jobs SET channel = 'context7', library = substr(said.name, 18),
    library_name = substr(said.origin, 10)
FROM said WHERE said.job = jobs.number AND said.name LIKE 'channel context7 %';

UPDATE jobs SET channel_why = substr(said.name, 16, length(said.name) - 16)
FROM said WHERE said.job = jobs.number AND said.name LIKE 'channel crawl (%)';

UPDATE jobs SET profile = substr(said.origin, 9)
FROM said WHERE said.job = jobs.number AND said.origin LIKE 'profile %';

UPDATE jobs SET archive = substr(said.name, 17)
FROM said WHERE said.job = jobs.number AND said.name LIKE 'archive --blobs %';

UPDATE jobs SET directory = substr(said.name, 12)
FROM said WHERE said.job = jobs.number AND said.name LIKE 'archive id %';

UPDATE jobs SET network = flags.list
FROM (
    SELECT job, json_agg(substr(name, 9) ORDER BY place)::text AS list
    FROM said WHERE name LIKE 'network %' GROUP BY job
) AS flags
WHERE flags.job = jobs.number;

UPDATE jobs SET origins = settings.list
FROM (
    SELECT job,
        COALESCE((json_agg(pair ORDER BY place) FILTER (WHERE strpos(name, ' ') = 0))::text, '[]') AS list
    FROM said GROUP BY job HAVING bool_or(strpos(name, ' ') > 0)
) AS settings
WHERE settings.job = jobs.number;

DROP TABLE said;
