"""What a memory store holds, for all tenants: hosts, jobs with their queues, and all the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from geomi.adapters.store.accounting.budget import JobTerms, budget_of, share_of
from geomi.adapters.store.accounting.hosts import HostDemands, HostRow, demands_of
from geomi.adapters.store.tables.costs import CostKey
from geomi.errors import UnknownName
from geomi.frontier.importance import FIRST_CASH
from geomi.model.dataset.queue import DeadLetter, Message, TaskResult, TaskState
from geomi.model.dataset.seed import Partition
from geomi.model.entry import NO_ANSWERS, AnswerTimes, HostState, Tally, UrlEntry
from geomi.model.history import ChangePool, PageHistory, Version
from geomi.model.index.document import DocumentRow
from geomi.model.index.language_model import CostLine
from geomi.model.job import CrawlJob, JobEvent
from geomi.model.named_value import NamedValue
from geomi.model.page import PageRecord
from geomi.model.request_log import GoneRequests, SentRequest
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.site import DomainList, Provider, Refusal, SiteRule, Takedown
from geomi.model.tenant import Quota
from geomi.model.verdict import State
from geomi.model.worker import Suspect, WorkerCard, WorkKind
from geomi.ports.runtime import ClockAnchor
from tests.contracts.reference.windows import Minutes

SeedTaskKey = tuple[str, str, str, str]  # tenant, dataset, queue, task
RequestKey = tuple[str, str, str, str, float, float]  # host, job, owner, URL, start, end


@dataclass(slots=True)
class Queue:
    """One job's URLs on one host, in the order of their discovery.

    Args:
        number: counts queues; the older one goes first among equals.
        ready_s: when a claim looks at it next, never later than it could be served.
        pending: the entries that have not ended, a part of `entries`.
        cash: what entries were given, where the job's order keeps any.
    """

    number: int
    host: str
    ready_s: float = 0.0
    served_s: float = 0.0
    entries: dict[bytes, UrlEntry] = field(default_factory=dict)
    pending: dict[bytes, UrlEntry] = field(default_factory=dict)
    patterns: dict[str, Tally] = field(default_factory=dict)
    cash: dict[bytes, float] = field(default_factory=dict)
    answers: AnswerTimes = NO_ANSWERS

    def put(self, entry: UrlEntry) -> None:
        """Write an entry that waits, in its old place."""
        self.entries[entry.url_hash] = self.pending[entry.url_hash] = entry

    def reopen(self, entry: UrlEntry) -> None:
        """Let an entry that has ended wait again, in its old place."""
        self.entries[entry.url_hash] = entry
        self.pending = {key: one for key, one in self.entries.items() if one.state is State.PENDING}

    def tallied(self, entry: UrlEntry) -> UrlEntry:
        """Return an entry with what its pattern has brought so far."""
        tally = self.patterns.get(entry.pattern)
        return replace(entry, tally=tally) if tally else entry

    def first_due_s(self) -> float:
        """Return when the first entry is due; 0 for at once."""
        return min((entry.due_s for entry in self.pending.values()), default=0.0)


@dataclass(slots=True)
class Book:
    """One job and everything that is forgotten with it; `captures` are keyed by their sequence.

    Args:
        root: the cash that belongs to no URL.
    """

    job: CrawlJob
    root: float = FIRST_CASH
    queues: dict[str, Queue] = field(default_factory=dict)
    excluded: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    captures: dict[int, PageRecord] = field(default_factory=dict)
    cursors: dict[str, tuple[int, int]] = field(default_factory=dict)
    # By work and last capture: the one before the first, the owner, and until when it is theirs.
    shares: dict[tuple[str, int], tuple[int, str, float]] = field(default_factory=dict)
    events: list[JobEvent] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        """Whether the job may take pages now."""
        return not self.job.paused and not self.job.state.is_final

    def waiting_on(self, host: str) -> int:
        """Return how many URLs wait on a host."""
        queue = self.queues.get(host)
        return len(queue.pending) if queue else 0

    def waiting_of(self, host: str, pattern: str) -> int:
        """Return how many URLs of a pattern wait on a host."""
        queue = self.queues.get(host)
        return sum(one.pattern == pattern for one in queue.pending.values()) if queue else 0

    def terms(self) -> JobTerms:
        """Return what the job's row says in other stores."""
        config = self.job.config
        waiting = sum(len(queue.pending) for queue in self.queues.values())
        return JobTerms(0, share_of(config), self.root, waiting, budget_of(config))


@dataclass(slots=True)
class SeedTask:
    """What messages of the seed engine are about; see the other stores' `seed_tasks`.

    Args:
        lent: names of the messages that its loan holds.
        dead: letters by the names of their messages.
    """

    partition: Partition
    state: TaskState = TaskState.PENDING
    ready_s: float | None = None
    owner: str | None = None
    token: int = 0
    worked: TaskResult = field(default_factory=TaskResult)
    messages: dict[str, Message] = field(default_factory=dict)
    lent: set[str] = field(default_factory=set)
    dead: dict[str, DeadLetter] = field(default_factory=dict)

    def first_due_s(self) -> float | None:
        """Return when the first message is due; None where none waits."""
        return min((message.due_s for message in self.messages.values()), default=None)

    def wake(self) -> None:
        """Let it wait for its messages."""
        self.state = TaskState.PENDING
        if self.owner is None:
            self.ready_s = self.first_due_s()


@dataclass(slots=True)
class World:
    """All rows of a memory store."""

    hosts: dict[str, HostRow] = field(default_factory=dict)
    books: dict[str, Book] = field(default_factory=dict)
    pages: dict[tuple[str, bytes], PageRecord] = field(default_factory=dict)
    robots: dict[RobotsKey, RobotsCopy] = field(default_factory=dict)
    requests: dict[RequestKey, SentRequest] = field(default_factory=dict)
    gone: GoneRequests = field(default_factory=GoneRequests)
    minutes: Minutes = field(default_factory=dict)
    lines: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)  # since, seen
    refusals: dict[tuple[str, bytes], Refusal] = field(default_factory=dict)
    domain_lists: dict[str, tuple[DomainList, bytes]] = field(default_factory=dict)
    site_rules: dict[tuple[str, str, str], SiteRule] = field(default_factory=dict)
    providers: dict[tuple[str, str], Provider] = field(default_factory=dict)
    takedowns: list[tuple[str, Takedown]] = field(default_factory=list)
    workers: dict[str, WorkerCard] = field(default_factory=dict)
    suspects: dict[tuple[str, WorkKind, bytes], Suspect] = field(default_factory=dict)
    duties: dict[str, tuple[str, float]] = field(default_factory=dict)  # owner, until
    ranks: dict[str, tuple[int, int]] = field(default_factory=dict)  # rank and edition by name
    histories: dict[tuple[str, bytes], PageHistory] = field(default_factory=dict)
    versions: dict[tuple[str, bytes], dict[float, Version]] = field(default_factory=dict)
    pools: dict[tuple[str, str, str], ChangePool] = field(default_factory=dict)
    sweeps: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    documents: dict[tuple[str, str], DocumentRow] = field(default_factory=dict)
    costs: dict[tuple[str, CostKey], CostLine] = field(default_factory=dict)
    named_values: dict[tuple[str, str, str], NamedValue] = field(default_factory=dict)
    seed_tasks: dict[SeedTaskKey, SeedTask] = field(default_factory=dict)
    untold: dict[tuple[str, int], JobEvent] = field(default_factory=dict)  # by job and number
    quotas: dict[str, Quota] = field(default_factory=dict)
    daily_pages: dict[tuple[str, str], int] = field(default_factory=dict)  # by tenant and day
    anchor: ClockAnchor | None = None
    last_queue: int = 0
    last_capture: int = 0

    def find_book(self, job: str, tenant: str) -> Book | None:
        """Find a job of this tenant."""
        book = self.books.get(job)
        return book if book and book.job.tenant == tenant else None

    def book(self, job: str, tenant: str) -> Book:
        """Return a job of this tenant, which has to be there."""
        book = self.find_book(job, tenant)
        if book is None:
            raise UnknownName(f"there is no job `{job}`", hint="`geomi jobs` lists what there is")
        return book

    def deaths(self, tenant: str, kind: WorkKind, name: bytes) -> int:
        """Return how many processes died while they had something in hand."""
        found = self.suspects.get((tenant, kind, name))
        return found.deaths if found else 0

    def host(self, host: str) -> HostRow:
        """Return a host; one that was never met is free."""
        return self.hosts.get(host) or HostRow(HostState(host))

    def put_host(self, row: HostRow) -> None:
        """Write a host; a lease that has ended lets every queue of the host be looked at again."""
        self.hosts[row.state.host] = row
        if row.lease_until_s == 0:
            for book in self.books.values():
                if queue := book.queues.get(row.state.host):
                    queue.ready_s = row.next_s

    def put_off(self, tenant: str, url_hash: bytes, due_s: float) -> None:
        """Let a page that is there be due at another time."""
        if page := self.pages.get((tenant, url_hash)):
            self.pages[tenant, url_hash] = replace(page, due_s=due_s)

    def forget_documents(self, tenant: str, is_meant: Callable[[DocumentRow], bool]) -> int:
        """Forget some documents of a tenant; return how many."""
        own = ((key, row) for key, row in self.documents.items() if key[0] == tenant)
        gone = [key for key, row in own if is_meant(row)]
        for key in gone:
            del self.documents[key]
        return len(gone)

    def open_queue(self, book: Book, host: str) -> Queue:
        """Return the queue of a host and job, which is made if need be."""
        queue = book.queues.get(host)
        if queue is None:
            self.hosts.setdefault(host, HostRow(HostState(host)))
            self.last_queue += 1
            queue = book.queues[host] = Queue(self.last_queue, host)
        return queue

    def waiting(self, host: str) -> Iterator[tuple[Book, Queue]]:
        """Yield the active jobs that have something left on a host."""
        for book in self.books.values():
            queue = book.queues.get(host)
            if book.is_active and queue and queue.pending:
                yield book, queue

    def demands_on(self, host: str) -> HostDemands:
        """Return what the active jobs of a host ask of everybody."""
        asked = [demands_of(book.job.config) for book, _ in self.waiting(host)]
        return HostDemands(
            max((one.floor_s for one in asked), default=0.0),
            max((one.cap_s for one in asked), default=0.0),
        )

    def is_crowded(self, host: str, ip: str | None, *, per_ip: int, now_s: float) -> bool:
        """Whether a host's address has its share of live leases on other hosts."""
        others = (row for name, row in self.hosts.items() if name != host)
        lent = sum(row.state.ip == ip and row.is_lent(now_s) for row in others)
        return ip is not None and lent >= per_ip

    def lent(self, job: str, now_s: float) -> list[HostRow]:
        """Return the hosts that a job holds."""
        return [row for row in self.hosts.values() if row.job == job and row.is_lent(now_s)]
