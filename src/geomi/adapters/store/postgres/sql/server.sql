-- name: lock_schema
-- Let one process at a time change the schema. 3: the class of this lock.
SELECT pg_advisory_xact_lock(3, hashtext(current_setting('search_path')));

-- name: server
-- The version of the server, such as 150004, and how the database keeps text.
SELECT current_setting('server_version_num')::integer, current_setting('server_encoding');

-- name: server_time
-- The server's time of day in seconds, and by how much the store's time differs from it.
SELECT extract(epoch FROM clock_timestamp())::double precision,
       COALESCE((SELECT value::double precision FROM meta WHERE key = 'offset'), 0.0);

-- name: has_store
-- Whether there is a store. The catalogue itself is read: names that were looked up before may be
-- remembered as missing while another process makes them.
SELECT EXISTS (
    SELECT 1 FROM pg_tables
    WHERE schemaname = %(schema)s::text AND tablename = 'schema_steps'
);

-- name: version
-- How far the schema has come.
SELECT coalesce(max(step), 0) FROM schema_steps;

-- name: put_version
-- The schema has come further.
INSERT INTO schema_steps (step) VALUES (%(version)s);

-- name: vacuum
-- Free the place of what was deleted or replaced.
VACUUM pages, captures, bands, requests;
