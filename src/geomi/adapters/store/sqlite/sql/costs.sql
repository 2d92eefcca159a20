-- name: add
-- Add to a line, which is made if need be.
INSERT INTO costs (
    tenant, job, day, purpose, provider, model, calls, failures, tokens_in, tokens_out, micros
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, job, day, purpose, provider, model) DO UPDATE
SET calls = calls + excluded.calls, failures = failures + excluded.failures,
    tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
    micros = micros + excluded.micros;

-- name: list
-- The lines of a job, or of all; there are few of them.
SELECT job, day, purpose, provider, model, calls, failures, tokens_in, tokens_out, micros
FROM costs
WHERE tenant = :tenant AND :job IN ('', job)
ORDER BY day, job, purpose, model, provider;

-- name: spent
-- What a job has cost.
SELECT COALESCE(SUM(micros), 0) FROM costs WHERE tenant = ? AND job = ?;
