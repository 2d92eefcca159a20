"""Say whether a page was seen before.

In come a page's main text, its body, its outlinks and what it says of itself; out go a
`Fingerprint`, a sketch and, given the pages that share its keys, the one that it repeats and why.
This package keeps nothing: whoever stores pages finds the candidates by exact keys and the `bands`
of the sketch and asks here for the decision.
"""
