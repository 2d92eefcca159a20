"""Commands that explain: `status`, `why`, `robots`, `report`, `audit`, `cost`, `traps`, `blocked`.

What a store has recorded comes in; a readable answer, or JSON with `--json`, goes out. `robots`
may fetch one robots.txt and stores nothing. `traps` and `blocked` also record a person's decision
about a site or a URL; crawls that start or resume later obey it. No other command here changes
the store.
"""
