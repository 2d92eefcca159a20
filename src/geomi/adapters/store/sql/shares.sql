-- name: is_behind
-- Whether captures wait to be lent, or are lent.
SELECT EXISTS (
    SELECT 1 FROM captures
    WHERE job = :job AND seq > COALESCE(
        (SELECT seq FROM cursors WHERE cursors.job = :job AND cursors.name = :name), 0
    )
) OR EXISTS (SELECT 1 FROM shares WHERE job = :job AND name = :name);

-- name: has_free
-- Whether captures wait to be lent, or a share is nobody's.
SELECT EXISTS (
    SELECT 1 FROM captures
    WHERE job = :job AND seq > COALESCE(
        (SELECT seq FROM cursors WHERE cursors.job = :job AND cursors.name = :name), 0
    )
) OR EXISTS (SELECT 1 FROM shares WHERE job = :job AND name = :name AND until_s <= :now_s);

-- name: free
-- The first share that is nobody's.
SELECT last, seq FROM shares
WHERE job = :job AND name = :name AND until_s <= :now_s
ORDER BY last
LIMIT 1;

-- name: take
-- Lend a share that is nobody's.
UPDATE shares SET owner = :owner, until_s = :until_s
WHERE job = :job AND name = :name AND last = :last AND seq = :seq AND until_s <= :now_s;

-- name: reach
-- The last capture that no unfinished share of a work has, nor comes after one.
SELECT COALESCE(
    (SELECT MIN(seq) FROM shares WHERE job = :job AND name = :name),
    (SELECT seq FROM cursors WHERE cursors.job = :job AND cursors.name = :name),
    0
);

-- name: place
-- How far captures were lent, and how many.
SELECT seq, length FROM cursors WHERE job = :job AND name = :name;

-- name: ahead
-- The captures after the cursor, and their pages.
SELECT seq, url_hash FROM captures
WHERE job = :job AND seq > :after AND seq <= :reach
ORDER BY seq
LIMIT :many;

-- name: lent_pages
-- The pages that unfinished shares have.
SELECT captures.url_hash
FROM shares
JOIN captures ON captures.job = shares.job
    AND captures.seq > shares.seq AND captures.seq <= shares.last
WHERE shares.job = :job AND shares.name = :name;

-- name: put
-- Lend a new share.
INSERT INTO shares (job, name, last, seq, owner, until_s)
VALUES (:job, :name, :last, :seq, :owner, :until_s);

-- name: captures
-- The captures of a share.
SELECT /* columns */ FROM captures
WHERE job = :job AND seq > :seq AND seq <= :last
ORDER BY seq;

-- name: renew
-- Keep a share that is still ours.
UPDATE shares SET until_s = :until_s
WHERE job = :job AND name = :name AND last = :last AND owner = :owner;

-- name: end
-- A share that is still ours is done.
DELETE FROM shares WHERE job = :job AND name = :name AND last = :last AND owner = :owner;

-- name: shorten
-- A share that is still ours is done up to a capture; anybody may have the rest.
UPDATE shares SET seq = :seq, until_s = 0
WHERE job = :job AND name = :name AND last = :last AND owner = :owner;

-- name: forget
-- Forget the shares of one work.
DELETE FROM shares WHERE job = :job AND name = :name;

-- name: restart
-- A work begins again with the first capture.
UPDATE cursors SET seq = 0, length = 0 WHERE job = :job AND name = :name;
