-- How many requests for pages a host has answered for a job, and the seconds of all together. Their
-- mean is the response time of MON-03; `hosts.latency_s` is smoothed, and of all jobs.
ALTER TABLE queues ADD COLUMN answers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queues ADD COLUMN answer_s REAL NOT NULL DEFAULT 0;
