-- name: captures
-- The captures that lie in some segments, a JSON array: all are found in one reading of the table.
SELECT jobs.tenant, captures.job, captures.seq, url_hash, record_segment, record_offset
FROM captures
JOIN jobs ON jobs.number = captures.job
WHERE record_segment IN (SELECT json_array_elements_text(:segments::json))
    OR response_segment IN (SELECT json_array_elements_text(:segments::json))
ORDER BY jobs.tenant, captures.job, captures.seq;

-- name: entry
-- How an entry ended: completed, or opened again to follow its links anew. Nobody else changes it
-- until the commit.
SELECT queue, url_hash, outcome, state
FROM entries
WHERE queue = :queue AND url_hash = :url_hash
    AND state IN (/* entry before requeue */) AND outcome IN (/* entry outcome completed */)
FOR NO KEY UPDATE;
