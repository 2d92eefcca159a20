"""Commands that manage stored data: `jobs`, `clean`, `erase`, `backup` and `restore`.

A data directory comes in; the same directory with less in it, or a copy of it, goes out. Deletion
follows one rule each: `jobs delete` one job, `clean` jobs whose retention has ended, `erase` all
pages of one site. `jobs delete` and `erase` ask for `--yes`. A backup or a restored directory is
complete or does not appear. No command here sends a request to a website.
"""
