-- When the last time began in which a page was gone or out of reach, and when that last ended.
ALTER TABLE histories
    ADD COLUMN left_at_s double precision,
    ADD COLUMN returned_at_s double precision;
UPDATE histories
SET left_at_s = COALESCE(gone_at_s, missed_at_s)
WHERE gone_at_s IS NOT NULL OR missed_at_s > visited_at_s;
