"""What geomi needs of its machine: time, files, locks, processes, and a Ray cluster of machines.

In come paths, programs and a store's anchor of time. Out come a clock, files that are whole, locks,
and handles on worker processes. Rules:
- scheduling time never runs backwards;
- a file is written whole or the write is an error, and every refusal of the system names its path;
- a lock ends with the process that holds it;
- a worker process ends when the process that started it is gone.

Nothing here knows what a page is or decides what a crawl does. The packages that keep files (blob,
dataset, outlet, index) build on this one; it imports none of them.
"""
