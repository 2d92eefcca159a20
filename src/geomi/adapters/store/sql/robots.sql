-- name: get
-- The newest robots.txt of an authority.
SELECT /* columns */
FROM robots
WHERE scheme = :scheme AND host = :host AND token = :token;

-- name: put
-- Keep a robots.txt in place of the one before.
INSERT INTO robots (/* columns */) VALUES (/* values */)
ON CONFLICT (scheme, host, token) DO UPDATE SET /* updates */;

-- name: answered
-- A host has answered until then, also where its visit is never settled.
UPDATE hosts SET last_end_s = :fetched_s WHERE host = :host AND last_end_s < :fetched_s;
