-- The table of named values, and what groups them, under the names that the code has for them.
ALTER TABLE drawers RENAME TO named_values;
ALTER TABLE named_values RENAME COLUMN drawer TO namespace;
DROP INDEX drawers_due;
CREATE INDEX named_values_due ON named_values (namespace, due_at_s) WHERE due_at_s IS NOT NULL;
