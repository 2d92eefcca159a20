-- name: twin
-- The first page of a job that was kept under an exact key, and what it repeats itself.
SELECT first.exact_key, first.url,
       COALESCE(
           (
               SELECT duplicate_of FROM pages
               WHERE pages.tenant = :tenant AND pages.url_hash = first.url_hash
           ),
           ''
       ),
       first.url_hash
FROM (
    SELECT exact_key, url, url_hash
    FROM captures
    WHERE captures.job = (SELECT number FROM jobs WHERE id = :job AND tenant = :tenant)
        AND captures.exact_key IS NOT NULL AND captures.exact_key = :exact_key
    ORDER BY captures.seq
    LIMIT 1
) AS first;

-- name: near
-- The pages that share a band, of each band the newest, oldest first. They are found by their
-- numbers alone; the tenant is looked at then, because two tenants may share a band by chance.
SELECT pages.url, pages.sketch, pages.duplicate_of, pages.url_hash, pages.exact_key
FROM (
    SELECT DISTINCT found.page
    FROM (
        VALUES (:band_0), (:band_1), (:band_2), (:band_3), (:band_4), (:band_5), (:band_6),
               (:band_7)
    ) AS asked (band)
    CROSS JOIN LATERAL (
        SELECT page FROM bands WHERE bands.band = asked.band ORDER BY page DESC LIMIT :many
    ) AS found
) AS shared
JOIN pages ON pages.number = shared.page
WHERE pages.tenant || '' = :tenant
ORDER BY pages.number;

-- name: forget_copy
-- Forget a page whose newest copy is this capture.
DELETE FROM pages
WHERE tenant = :tenant AND url_hash = :url_hash
    AND record_segment = :segment AND record_offset = :offset
RETURNING url_hash, number, sketch, duplicate_of;
