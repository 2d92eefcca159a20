"""What geomi needs of the world: small Protocols with verbs, batch-first, never SQL or sockets.

Adapters implement them, the engine calls them, and `tests/contracts` holds the suites that each
implementation has to pass. A store handle is bound to one tenant when it is opened.
"""
