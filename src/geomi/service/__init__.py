"""What a served geomi does for many tenants: who may ask, what they may ask for, what they get.

In come a caller whose key was checked and plain values; out go plain values or a `GeomiError`.
`service` opens a data directory for many tenants; `access` knows tenants, keys and sessions;
`crawling` starts, schedules and shows crawls. Beside them stand collections and documents,
providers, webhooks with their deliveries, alarms, and the seed engine for tenants.
`background_tasks` does what nobody asks for. Small records lie in the store as named values, one
namespace for each kind (`value_namespace`).

It knows nothing of HTTP. The tenant comes from the key alone: nothing here takes a tenant as an
argument of a request. A limit is checked and used under one lock, so that two requests cannot
both take the last place.
"""
