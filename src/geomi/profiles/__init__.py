"""Behaviour profiles as data: each TOML file names only what differs from the defaults of the model."""
