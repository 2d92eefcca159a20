-- When a crawl is looked at again, to visit pages that are due: NULL rests; and what kept it from
-- that. What a crawl keeps only for a time, and what a provider's sessions keep, nobody watches.
ALTER TABLE jobs ADD COLUMN next_look_s REAL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN watch_note TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN is_watched INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET is_watched = 1
WHERE kind = 'crawl' AND provider = '' AND keep_urls_s = 0 AND keep_job_s = 0;
CREATE INDEX jobs_by_look ON jobs (next_look_s) WHERE is_watched;
