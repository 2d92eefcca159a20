"""Work in a process that can be killed: a large page goes in, its article comes out, or None.

The child holds no socket but the one to its parent, may not outgrow its memory, and dies with its
parent. What it answers is read as plain data: a child taken over by a page gains nothing here.
"""
