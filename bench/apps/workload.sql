-- A table in memory, filled, indexed, grouped, joined, changed and emptied.
CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT, city TEXT, amount REAL);
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 150000)
INSERT INTO entry SELECT n, 'name' || (n * 7919 % 100003), 'city' || (n % 997), n * 0.25 FROM number;
CREATE INDEX entry_city ON entry (city, name);
SELECT count(*), sum(amount) FROM (SELECT city, sum(amount) AS amount FROM entry GROUP BY city ORDER BY amount DESC LIMIT 100);
SELECT count(*) FROM entry AS a JOIN entry AS b ON a.city = b.city AND a.id + 997 = b.id;
SELECT length(group_concat(name, ',')) FROM entry WHERE id % 3 = 0;
UPDATE entry SET name = name || '-' || city WHERE id % 2 = 0;
SELECT count(DISTINCT name) FROM entry;
DELETE FROM entry WHERE id % 5 <> 0;
SELECT count(*) FROM entry WHERE name LIKE '%9%';
DROP TABLE entry;
