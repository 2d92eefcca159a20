"""A fleet: the workers of a store as actors of a Ray cluster.

What comes in is a plan: which store and archive, how many workers at least and at most. What goes
out are the same workers that `geomi worker` runs, one an actor, spread over the nodes; those that
die with their process or their node are started again by Ray, and one actor, the keeper, sees to
their number. It must never decide anything about a crawl: workers and store do, with or without a
fleet.
"""
