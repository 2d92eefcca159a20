"""A served geomi beside clients that hold connections open: nobody else may notice.

Every client here is a real socket, and the service may open as few files as many systems allow.
"""

from __future__ import annotations

import http.client
import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.serving import Served

HANDLES = 1024
CROWD = 1100
LOOK_S = 0.05
PATIENCE_S = 30.0
# What a start prints is some hundred bytes; an attack may add some lines, however long it takes.
MOST_LOG_BYTES = 8_000
# One a second while no handle is left, and some of the heart.
MOST_WARNINGS = 100
PATIENT = {f"GEOMI_{name}_TIMEOUT_S": "3600" for name in ("HEADER", "BODY", "ANSWER", "IDLE")}
HASTE_S = 2
HASTY = {f"GEOMI_{name}_TIMEOUT_S": f"{HASTE_S}" for name in ("HEADER", "BODY", "ANSWER", "IDLE")}

HALF_HEADER = b"GET /healthz HTTP/1.1\r\nHost: geomi\r\nX-Part: "
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: geomi\r\n\r\n"
HALF_BODY = (
    b"POST /api/v1/crawls HTTP/1.1\r\nHost: geomi\r\nContent-Type: application/json\r\n"
    b'Content-Length: 1000\r\n\r\n{"collectionId": '
)
# One more than a header may have, and no end of it in sight.
ENDLESS_HEADER = b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * (32 * 1024)
ENDLESS_TRAILER = (
    b"POST /healthz HTTP/1.1\r\nHost: geomi\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1\r\na\r\n0\r\nX-Long: " + b"a" * 9_000_000
)


@pytest.fixture(autouse=True)
def many_handles() -> Iterator[None]:
    """Let this process hold more connections than the service."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4 * HANDLES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4 * HANDLES, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def serving(place: Path, env: dict[str, str]) -> Iterator[Served]:
    """Serve with few handles, and without workers, which are not asked here."""
    flags = ("--workers", "0")
    with Served(place / "data", *flags, env=env, handles=HANDLES, log=place / "log") as served:
        yield served
        said = served.stop()
        assert len(said) < MOST_LOG_BYTES and "timeout graceful shutdown" not in said


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve those who are quick."""
    with serving(tmp_path_factory.mktemp("hasty"), HASTY) as served:
        yield served


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve without ever losing patience, so that only the number of clients is limited."""
    with serving(tmp_path_factory.mktemp("patient"), PATIENT) as served:
        yield served


def said(served: Served) -> str:
    """Return the log."""
    assert served.log is not None
    return served.log.read_text()


def is_well(served: Served) -> None:
    """Fail where the server has ended, or has much to say."""
    text = said(served)
    assert served.is_running, text
    assert len(text) < MOST_LOG_BYTES, text[:MOST_LOG_BYTES]


def connect(served: Served, *, reads: int | None = None) -> socket.socket:
    """Open a connection.

    Args:
        reads: the size of the buffer for what is received; the system's if not given.
    """
    place = urlsplit(served.url)
    opened = socket.socket()
    if reads:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, reads)
    opened.settimeout(PATIENCE_S)
    opened.connect((place.hostname, place.port))
    return opened


def silent(served: Served) -> socket.socket:
    """Send nothing."""
    return connect(served)


def inside_a_header(served: Served) -> socket.socket:
    """Stop inside a header."""
    opened = connect(served)
    opened.sendall(HALF_HEADER)
    return opened


def inside_a_body(served: Served) -> socket.socket:
    """Stop inside a body."""
    opened = connect(served)
    opened.sendall(HALF_BODY)
    return opened


def after_an_answer(served: Served) -> socket.socket:
    """Ask once, and keep the connection."""
    opened = connect(served)
    opened.sendall(WHOLE)
    assert opened.recv(4096).startswith(b"HTTP/1.1 200 OK")
    return opened


def unread(served: Served) -> socket.socket:
    """Ask for more than the kernel holds, and do not read it."""
    opened = connect(served, reads=2048)
    opened.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: geomi\r\n\r\n" * 16)
    return opened


KINDS = (silent, inside_a_header, inside_a_body, after_an_answer, unread)


def asking(served: Served) -> http.client.HTTPConnection:
    """Return a client that does all as it should."""
    place = urlsplit(served.url)
    return http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)


def is_served(served: Served) -> bool:
    """Whether others are answered: who asks for health, and who asks with a key."""
    with closing(asking(served)) as one:
        one.request("GET", "/healthz")
        status = one.getresponse().status
    return status == 200 and served.get("/crawls")["crawls"] == []


def handles_of(served: Served) -> int:
    """Count the files that the server has open."""
    return len(list(Path(f"/proc/{served.pid}/fd").iterdir()))


def settled(served: Served) -> int:
    """Return how many files a server has open that answers, and that nobody asks."""
    assert is_served(served)
    counts = [handles_of(served)]

    def is_steady() -> bool:
        counts.append(handles_of(served))
        return len(counts) > 5 and len(set(counts[-5:])) == 1

    assert becomes(is_steady)
    return counts[-1]


def becomes(holds: Callable[[], bool]) -> bool:
    """Wait until something holds; False if it does not within a long time."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        if holds():
            return True
        time.sleep(LOOK_S)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [(inside_a_header,), KINDS], ids=["headers", "all"])
def test_a_crowd_that_never_ends_its_requests_keeps_nobody_out(
    patient: Served, kinds: tuple[Callable[[Served], socket.socket], ...]
) -> None:
    before = settled(patient)
    with ExitStack() as crowd:
        for number in range(CROWD):
            crowd.enter_context(closing(kinds[number % len(kinds)](patient)))
        assert before + 100 < handles_of(patient) < HANDLES
        assert is_served(patient)
        assert is_served(patient), "the first time may have been luck"
        assert becomes(lambda: "more clients than connections" in said(patient))
    assert becomes(lambda: handles_of(patient) <= before)
    is_well(patient)


@pytest.mark.slow
def test_who_is_late_is_let_go(hasty: Served) -> None:
    before = settled(hasty)
    with ExitStack() as crowd:
        for number in range(20 * len(KINDS)):
            crowd.enter_context(closing(KINDS[number % len(KINDS)](hasty)))
        assert becomes(lambda: handles_of(hasty) > before + 15 * len(KINDS))
        assert becomes(lambda: handles_of(hasty) <= before)
        assert is_served(hasty)
    is_well(hasty)


@pytest.mark.slow
def test_a_drip_of_bytes_holds_no_connection(hasty: Served) -> None:
    before = settled(hasty)
    begun = [(HALF_HEADER, b"a"), (HALF_BODY, b"a"), (WHOLE, b"\r\n"), (b"", b"\r\n")]
    with ExitStack() as crowd:
        drips = {crowd.enter_context(closing(connect(hasty))): drop for _, drop in begun}
        for slow, (begin, _) in zip(drips, begun, strict=True):
            slow.sendall(begin)

        def are_closed() -> bool:
            for slow, drop in list(drips.items()):
                try:
                    slow.sendall(drop)
                except OSError:
                    del drips[slow]
            return not drips

        assert becomes(are_closed), list(drips.values())
    assert becomes(lambda: handles_of(hasty) <= before)


@pytest.mark.slow
def test_who_reads_a_drip_is_let_go_and_a_slow_reader_is_not(hasty: Served) -> None:
    before = settled(hasty)
    with closing(unread(hasty)) as drip, closing(unread(hasty)) as slow:
        assert becomes(lambda: handles_of(hasty) == before + 2)
        read = 0

        def is_one_left() -> bool:
            nonlocal read
            drip.recv(1)
            read += len(slow.recv(8192))  # as much as this, twenty times a second
            return handles_of(hasty) == before + 1

        assert becomes(is_one_left)
        with pytest.raises(ConnectionResetError):  # the kernel keeps nothing for it either
            while drip.recv(65_536):
                pass
        for _ in range(int(2 * HASTE_S / LOOK_S)):
            read += len(slow.recv(8192))
            time.sleep(LOOK_S)
        assert handles_of(hasty) == before + 1
        assert is_served(hasty)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [ENDLESS_HEADER, ENDLESS_HEADER + b"\r\n\r\n", ENDLESS_TRAILER, WHOLE * 18],
    ids=["endless header", "header", "trailer", "pipeline"],
)
def test_too_much_at_once_is_refused(patient: Served, sent: bytes) -> None:
    with closing(connect(patient)) as greedy:
        try:
            greedy.sendall(sent)
            answer = greedy.recv(4096)
        except ConnectionError:  # it was closed before it was read
            answer = b"HTTP/1.1 431 "
        assert answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.slow
def test_what_may_come_at_once_is_answered(patient: Served) -> None:
    header = ENDLESS_HEADER[: 32 * 1024] + b"\r\n\r\n"
    last = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with closing(connect(patient)) as one, one.makefile("rb") as read:
        one.sendall(header + WHOLE * 15 + last)
        told = read.read()
    assert told.count(b"HTTP/1.1 200 OK") == 17 and b"HTTP/1.1 4" not in told


@pytest.mark.slow
def test_requests_that_nobody_can_read_leave_one_line_in_the_log(patient: Served) -> None:
    for _ in range(300):
        with closing(connect(patient)) as one:
            one.sendall(b"\x16\x03\x01\x02\x00\x01\r\n\r\n")  # TLS, as many try
            assert one.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert is_served(patient)
    assert said(patient).count("Invalid HTTP request") <= 2  # and a minute may end


@pytest.mark.slow
def test_halves_of_bodies_leave_no_traceback_in_the_log(patient: Served) -> None:
    for _ in range(200):
        inside_a_body(patient).close()
    assert is_served(patient)
    assert "Traceback" not in said(patient)


@pytest.mark.slow
def test_a_process_without_handles_waits_and_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, PATIENT) as served, closing(asking(served)) as kept:

        def ready() -> int:
            kept.request("GET", "/readyz")
            answer = kept.getresponse()
            answer.read()
            return answer.status

        def warnings() -> int:
            kept.request("GET", "/metrics", headers={"Authorization": f"Bearer {served.key}"})
            counts = kept.getresponse().read().decode()
            return int(counts.partition("\ngeomi_warnings_total ")[2].partition("\n")[0])

        assert ready() == 200
        resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (1, HANDLES))
        with closing(connect(served)) as waiting:  # the kernel accepts it
            waiting.sendall(WHOLE)
            assert becomes(lambda: "cannot accept a connection" in said(served))
            assert becomes(lambda: ready() == 503), "the heart has no handle to look after the dead"
            resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (HANDLES, HANDLES))
            assert waiting.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert becomes(lambda: ready() == 200)
        assert warnings() < MOST_WARNINGS, "it tried again without a pause"
        assert is_served(served)


@pytest.mark.slow
def test_a_server_that_ends_waits_for_no_half_request(tmp_path: Path) -> None:
    with ExitStack() as halves, serving(tmp_path, PATIENT) as served:
        for half in (silent, inside_a_header, inside_a_body, after_an_answer):
            halves.enter_context(closing(half(served)))
        assert is_served(served)
