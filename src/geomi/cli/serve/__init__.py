"""Commands for the service and its workers: `serve`, `worker`, `workers`, `fleet` and `keys`.

Flags and a store come in; running processes and their events go out. The first SIGTERM or Ctrl-C
finishes requests in flight, and a second one stops at once. `serve` loads the web framework only
when it runs, so that other commands start fast. `keys` prints a key's secret once and never again.
"""
