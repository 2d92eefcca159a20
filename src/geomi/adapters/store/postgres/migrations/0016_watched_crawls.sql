-- When a crawl is looked at again, to visit pages that are due: NULL rests; and what kept it from
-- that. What a crawl keeps only for a time, and what a provider's sessions keep, nobody watches.
ALTER TABLE jobs
    ADD COLUMN next_look_s double precision DEFAULT 0,
    ADD COLUMN watch_note text NOT NULL DEFAULT '',
    ADD COLUMN is_watched boolean NOT NULL DEFAULT false;
UPDATE jobs SET is_watched = true
WHERE kind = 'crawl' AND provider = '' AND keep_urls_s = 0 AND keep_job_s = 0;
CREATE INDEX jobs_by_look ON jobs (next_look_s) WHERE is_watched;
