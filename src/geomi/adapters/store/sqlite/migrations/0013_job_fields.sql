-- What a job is, in columns of its own. Until now `origins` said it by what its names began with: a list
-- of pairs, a name and where it came from. What is left there are names of settings.
ALTER TABLE jobs ADD COLUMN kind TEXT NOT NULL DEFAULT 'crawl';
ALTER TABLE jobs ADD COLUMN channel TEXT NOT NULL DEFAULT 'crawl';
ALTER TABLE jobs ADD COLUMN channel_why TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN library TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN library_name TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN profile TEXT NOT NULL DEFAULT 'default';
ALTER TABLE jobs ADD COLUMN network TEXT NOT NULL DEFAULT '[]';
ALTER TABLE jobs ADD COLUMN archive TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN directory TEXT NOT NULL DEFAULT '';

UPDATE jobs SET kind = 'recrawl' WHERE crawl <> '';

-- A row that cannot be read stays as it is: whoever asks for this job is told.
CREATE TABLE said AS
SELECT jobs.number AS job, pair.key AS place, pair.value AS pair,
    json_extract(pair.value, '$[0]') AS name, json_extract(pair.value, '$[1]') AS origin
FROM jobs, json_each(CASE WHEN json_valid(jobs.origins) THEN jobs.origins ELSE '[]' END) AS pair
WHERE pair.type = 'array';

UPDATE jobs SET channel = 'context7', library = substr(said.name, 18),
    library_name = substr(said.origin, 10)
FROM said WHERE said.job = jobs.number AND said.name GLOB 'channel context7 *';

UPDATE jobs SET channel_why = substr(said.name, 16, length(said.name) - 16)
FROM said WHERE said.job = jobs.number AND said.name GLOB 'channel crawl (*)';

UPDATE jobs SET profile = substr(said.origin, 9)
FROM said WHERE said.job = jobs.number AND said.origin GLOB 'profile *';

UPDATE jobs SET archive = substr(said.name, 17)
FROM said WHERE said.job = jobs.number AND said.name GLOB 'archive --blobs *';

UPDATE jobs SET directory = substr(said.name, 12)
FROM said WHERE said.job = jobs.number AND said.name GLOB 'archive id *';

UPDATE jobs SET network = (
    SELECT json_group_array(flag) FROM (
        SELECT substr(name, 9) AS flag FROM said
        WHERE said.job = jobs.number AND name GLOB 'network *' ORDER BY place
    )
)
WHERE number IN (SELECT job FROM said WHERE name GLOB 'network *');

UPDATE jobs SET origins = (
    SELECT json_group_array(json(pair)) FROM (
        SELECT pair FROM said WHERE said.job = jobs.number AND instr(name, ' ') = 0 ORDER BY place
    )
)
WHERE number IN (SELECT job FROM said WHERE instr(name, ' ') > 0);

DROP TABLE said;
