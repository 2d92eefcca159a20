"""Decide whether a page repeats a page that geomi has already.

In come a page's main text, its body, its outlinks and its canonical URL. Out go a `Fingerprint`, a
sketch and, given the pages that share its keys, the page that it repeats and why. This package
stores nothing: the store finds the candidates by exact keys and by the `bands` of the sketch, and
the engine asks here for the decision.
"""
