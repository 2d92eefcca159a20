"""What travels between the rooms: frozen values with no behaviour beyond derived properties.

Nothing here waits, reads a clock or knows where a value is kept. A stage takes one of these and
returns another; the engine carries it on; an adapter writes it down.
"""
