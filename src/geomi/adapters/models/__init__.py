"""Models that run elsewhere, or from a folder: questions and texts in, answers and vectors out.

None of them is needed: whatever a model could say has an answer without one. They never fetch a
model and dial only the operator's own servers, through the egress gate; Amazon's client alone has
a way of its own.
"""
