-- The table of named values, and what groups them, under the names that the code has for them.
ALTER TABLE drawers RENAME TO named_values;
ALTER TABLE named_values RENAME COLUMN drawer TO namespace;
ALTER INDEX drawers_due RENAME TO named_values_due;
