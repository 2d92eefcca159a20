"""Events on their way to people: what happened comes in, lines, counts and a live display go out.

A listener never waits for anything but its own stream and never decides anything; a crawl without
listeners does exactly the same. Text that came from outside reaches a terminal only escaped.
"""
