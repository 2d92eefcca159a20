"""Run jobs: lease hosts, visit their pages, settle the visits, and end the job once.

In come jobs of the store; out go committed visits, derived outputs and events. A worker is one
loop on one job. A `Supervisor` runs one job with several workers; a `JobPool` serves all jobs of a
store in one process.

Rules kept:
- Bytes reach the archive before the transaction that points at them, and events follow the commit.
- Backpressure is the size of the next claim. There is no queue that could grow.
- One process at a time leads a job. It notes the time worked and ends the job.
- A worker that is killed loses nothing that was settled; its leases run out or are ended by others.

Only this package catches what it does not know, and then it logs the traceback.
"""
