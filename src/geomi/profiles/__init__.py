"""Behaviour profiles as data: each TOML file names what differs from the model's defaults."""
