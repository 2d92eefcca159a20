"""The only code that waits: it carries values from stage to stage and calls the world by ports.

In come a job and the ports of `World`; out go settlements. It holds no rule of its own: what is
allowed, how long to wait and what a status means is decided by the stages it calls. `page.py` is
one page's road from top to bottom: read it first.
"""
