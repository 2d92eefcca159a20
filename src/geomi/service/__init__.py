"""What `geomi serve` does for many tenants, without HTTP: crawls, documents, access, notifications.

In come a caller with a checked key and plain values; out go plain values or a `GeomiError`.
`service` opens a data directory for many tenants; `access` knows tenants, keys and sessions;
`crawling` starts, schedules and shows crawls. Beside them stand collections and documents,
providers, webhooks with their deliveries, alarms, and the seed engine for tenants.
`background_tasks` does what nobody asks for. Small records lie in the store as named values, one
namespace for each kind (`ValueNamespace`).

This package has no HTTP. The tenant comes from the key alone: no request here has a tenant as an
argument. A limit is checked and used under one lock, so that two requests cannot both take the last
place.
"""
