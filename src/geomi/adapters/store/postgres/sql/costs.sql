-- name: add
-- Add to lines, which are made if need be.
INSERT INTO costs (
    job, day, purpose, provider, model, calls, failures, tokens_in, tokens_out, micros, tenant
)
SELECT new.*, %(tenant)s
FROM unnest(
    %(job)b::text[], %(day)b::text[], %(purpose)b::text[], %(provider)b::text[],
    %(model)b::text[], %(calls)b::bigint[], %(failures)b::bigint[], %(tokens_in)b::bigint[],
    %(tokens_out)b::bigint[], %(micros)b::bigint[]
) AS new
ON CONFLICT (tenant, job, day, purpose, provider, model) DO UPDATE
SET calls = costs.calls + excluded.calls, failures = costs.failures + excluded.failures,
    tokens_in = costs.tokens_in + excluded.tokens_in,
    tokens_out = costs.tokens_out + excluded.tokens_out,
    micros = costs.micros + excluded.micros;

-- name: list
-- The lines of a job, or of all; there are few of them.
SELECT job, day, purpose, provider, model, calls, failures, tokens_in, tokens_out, micros
FROM costs
WHERE tenant = %(tenant)s AND %(job)s IN ('', job)
ORDER BY day, job, purpose, model, provider;

-- name: spent
-- What a job has cost.
SELECT COALESCE(SUM(micros), 0)::bigint
FROM costs
WHERE tenant = %(tenant)s AND job = %(job)s;
