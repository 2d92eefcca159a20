"""Access to the service: tenants, API keys, browser sessions, repeated requests, the audit log.

In comes the text of a key or a session token; out goes a `Caller` with the service of its tenant,
or `KeyRefused`. A secret is shown once, when it is made; only its SHA-256 is stored. Every refusal
of a key has the same text, so that a stranger learns nothing from it. Every change that a caller
makes is written to the audit log, without bodies. This package never reads an HTTP request.
"""
