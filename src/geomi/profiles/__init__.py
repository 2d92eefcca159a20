"""Behaviour profiles and provider presets as data.

Each TOML file here is a profile: what differs from the model's defaults, by section, with `about`
in one line and `[ranges]` of what may be asked for under it (a single value is locked). Ranges
under `[service]` bind whoever asks geomi for a crawl, not the operator's own command line. A row of
the catalogue's matrix whose setting does not exist yet is named in a comment, `comes with …`.
`presets/` holds the providers that come with geomi.
"""
