-- name: add
-- Add to a line, which is made if need be.
INSERT INTO costs (tenant, /* columns */) VALUES (:tenant, /* values */)
ON CONFLICT (tenant, job, day, purpose, provider, model) DO UPDATE
SET calls = costs.calls + excluded.calls, failures = costs.failures + excluded.failures,
    tokens_in = costs.tokens_in + excluded.tokens_in,
    tokens_out = costs.tokens_out + excluded.tokens_out,
    micros = costs.micros + excluded.micros;

-- name: list
-- The lines of a job, or of all; there are few of them.
SELECT /* columns */
FROM costs
WHERE tenant = :tenant AND :job IN ('', job)
ORDER BY day, job, purpose, model, provider;

-- name: spent
-- What a job has cost.
SELECT CAST(COALESCE(SUM(micros), 0) AS BIGINT)
FROM costs
WHERE tenant = :tenant AND job = :job;
