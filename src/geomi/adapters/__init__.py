"""Where geomi touches the world: each package implements some ports and knows none of the others.

In come the settings of one deployment, out come objects that fit `geomi.ports`. An adapter never
decides what a crawl should do, and driver errors never leave it untranslated.
"""
