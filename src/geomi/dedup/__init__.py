"""Say whether a page was seen before.

In come a page's main text, its body and its outlinks; out go a `Fingerprint` and, given the
fingerprints of other pages, the one that it repeats. This package keeps nothing: whoever stores
fingerprints finds the candidates by `bands` and exact keys and asks here for the decision.
"""
