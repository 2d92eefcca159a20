"""Every network connection passes the one egress gate in `adapters/http`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from inspect import signature

from geomi.adapters.index.lance import open_lance_index
from geomi.adapters.outlet.parquet import ParquetPages
from geomi.app.directory import bucket_of
from tests.architecture.tree import Module, dotted_uses, imported, modules

# Other people's packages that geomi may use at all; none of them dials, as we use it. A new one is
# looked at here before it is used: whoever adds an HTTP client adds a second way out.
PACKAGES = frozenset(
    {
        "ada_url", "annotated_types", "backports", "boto3", "botocore", "brotli", "compression",
        "cryptography", "fastapi", "httptools", "isal", "jinja2", "lancedb", "numpy", "obstore",
        "onnxruntime",
        "orjson", "psycopg", "publicsuffixlist", "pyarrow", "pydantic", "pydantic_core", "pypdf",
        "ray", "re2", "rich", "starlette", "tokenizers", "turbohtml", "typer", "uvicorn", "uvloop",
        "yaml",
    }
)  # fmt: skip
# What the standard library offers to whoever wants to dial, look up names, or have it done: feeds
# of log handlers, parsers that fetch entities, a robots.txt reader that reads by itself.
CLIENTS = frozenset(
    {
        "_socket", "_ssl", "asyncore", "ftplib", "http.client", "httptools", "imaplib",
        "logging.handlers", "multiprocessing.connection.Client", "multiprocessing.managers",
        "nntplib", "poplib", "smtplib", "socket", "socketserver", "telnetlib", "urllib.request",
        "urllib.robotparser", "webbrowser", "wsgiref", "xml.dom", "xml.sax", "xmlrpc",
    }
)  # fmt: skip
CONNECTING = frozenset(
    {
        "connect_ex", "create_connection", "create_datagram_endpoint", "create_unix_connection",
        "getaddrinfo", "gethostbyname", "gethostbyname_ex", "getnameinfo", "open_connection",
        "open_unix_connection", "sock_connect", "sock_sendto",
    }
)  # fmt: skip
# A program that is started can dial as well.
STARTING = frozenset(
    {
        "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "os.execv",
        "os.execve", "os.execvp", "os.fork", "os.popen", "os.posix_spawn", "os.spawnv", "os.system",
        "pty", "subprocess",
    }
)  # fmt: skip
# Servers for the sample site; they listen, and what they serve is our own.
SERVERS = ("demo",)
# It accepts the connections of clients, which needs a socket; that it dials is looked for as well.
LISTENER = "api/http_server.py"
GATE = "adapters/http/"
DIALLERS = {f"{GATE}egress.py", f"{GATE}tunnel.py"}
NAMES = f"{GATE}names.py"
# Workers, and the parser that can be killed: both are geomi itself.
STARTERS = {
    "adapters/machine/processes.py",
    "adapters/compute/child.py",
}
# The channel to our own child process is a socket pair: nothing is dialled.
CHANNEL = "adapters/compute/"
PAIRED_BY = {"open_connection": {"sock"}, "socket": {"fileno"}, "socketpair": set[str]()}


def test_a_package_that_can_dial_is_given_an_open_file() -> None:
    """pyarrow can write to clouds, to whoever hands it a URL."""
    users = {
        module.name
        for module in modules()
        if any(name.partition(".")[0] == "pyarrow" for name in imported(module))
    }
    # A LanceDB table is given columns in memory, and no file at all.
    assert users == {
        "adapters/index/lance_table.py",
        "adapters/index/lance.py",
        "adapters/outlet/parquet.py",
    }
    assert signature(ParquetPages).parameters["file"].annotation == "BinaryIO"


def test_the_client_of_a_bucket_dials_where_the_settings_say() -> None:
    """The second way out leads to the operator's own server, and nothing from outside goes there.

    The gate keeps strangers from choosing whom we talk to: what they say is an address to be
    checked. A bucket's address is a setting; it may be private, and what is asked of it is a name
    that geomi has made. A dataset's is a setting or an argument of a command, never part of a
    request. Whoever else used this client could be led anywhere.
    """
    users = {
        module.name
        for module in modules()
        if any(name.partition(".")[0] == "obstore" for name in imported(module))
    }
    assert users == {"adapters/blob/bucket.py"}
    makers = {
        module.name
        for module in modules()
        for name in imported(module)
        if name in ("geomi.adapters.blob.bucket.Bucket", "geomi.adapters.blob.s3.S3Archive")
    }
    assert makers == {
        "adapters/blob/s3.py",
        "adapters/dataset/bucket.py",
        "app/directory.py",
        "app/use/datasets.py",
    }
    assert signature(bucket_of).parameters["settings"].annotation == "Settings"


def test_the_client_of_an_index_dials_where_the_settings_say() -> None:
    """LanceDB goes to a directory or a bucket of the operator's own, as the archive does."""
    users = {
        module.name
        for module in modules()
        if any(name.partition(".")[0] == "lancedb" for name in imported(module))
    }
    assert users == {"adapters/index/lance.py", "adapters/index/lance_table.py"}
    assert signature(open_lance_index).parameters["place"].annotation == "Path | BucketUrl"


def test_the_client_of_a_cloud_dials_its_own_region() -> None:
    """Amazon's client signs what it sends, and is told no address but the operator's."""
    users = {
        module.name
        for module in modules()
        if any(name.partition(".")[0] in ("boto3", "botocore") for name in imported(module))
    }
    assert users == {"adapters/models/bedrock.py"}


def test_the_driver_of_a_database_dials_where_the_settings_say() -> None:
    """The store is the operator's own: its address is a setting, and nothing from outside."""
    users = {
        module.name
        for module in modules()
        for line, name in dotted_uses(module)
        if _is_one_of(name, frozenset({"psycopg.connect", "psycopg.Connection.connect"}))
    }
    assert users == {"adapters/store/postgres/connection.py"}
    openers = {
        module.name
        for module in modules()
        if module.room != "adapters"
        for name in imported(module)
        if name == "geomi.adapters.store.store.open_postgres"
    }
    assert openers == {"app/store.py"}


def test_the_client_of_a_cluster_dials_where_a_flag_says() -> None:
    """A fleet's cluster is the operator's own, and nothing that was crawled reaches its client."""
    users = {
        module.name
        for module in modules()
        if any(name.partition(".")[0] == "ray" for name in imported(module))
    }
    assert users == {"adapters/machine/ray.py"}
    openers = {
        module.name
        for module in modules()
        for name in imported(module)
        if name == "geomi.adapters.machine.ray.RayActors"
    }
    assert openers == {"processes/fleet.py"}


def test_a_tokenizer_is_read_from_a_file() -> None:
    """tokenizers can fetch one by its name, if it is asked to."""
    uses = {
        name for module in modules() for _, name in dotted_uses(module) if "tokenizers." in name
    }
    assert uses == {"tokenizers.Tokenizer", "tokenizers.Tokenizer.from_file"}


def test_no_package_that_nobody_has_looked_at() -> None:
    """A list of clients would never be complete; the list of what we use is."""
    known = PACKAGES | sys.stdlib_module_names | {"geomi"}
    assert [
        f"{module.name} imports {name}"
        for module in modules()
        for name in imported(module)
        if name.partition(".")[0] not in known
    ] == []


def test_no_other_network_client() -> None:
    """Only the gate imports a client or a socket."""
    assert [
        f"{module.name} imports {name}"
        for module in _outside_the_gate()
        for name in (*imported(module), *(use for _, use in dotted_uses(module)))
        if _is_one_of(name, CLIENTS)
        and not (module.name == LISTENER and name.partition(".")[0] in ("httptools", "socket"))
    ] == []


def test_no_other_connection() -> None:
    """Only the gate opens a connection; servers open none either."""
    assert [
        f"{module.name}:{line} uses {name}"
        for module in modules()
        if not module.name.startswith((GATE, CHANNEL))
        for line, name in _words(module)
        if name in CONNECTING
    ] == []


def test_the_gate_dials_in_one_place_and_looks_up_in_another() -> None:
    """Its other modules are given connections: what they hold was checked."""
    assert {
        module.name
        for module in modules()
        if module.name.startswith(GATE)
        for _, name in _words(module)
        if name in CONNECTING - {"getaddrinfo"}
    } == DIALLERS
    assert {
        module.name
        for module in modules()
        if module.name.startswith(GATE)
        for name in (*imported(module), *(word for _, word in _words(module)))
        if name in ("socket", "getaddrinfo")
    } == {NAMES}


def test_no_program_but_our_own_is_started() -> None:
    """Workers and the parser are; anything else could be a client by another name."""
    assert [
        f"{module.name}:{line} uses {name}"
        for module in modules()
        if module.name not in STARTERS
        for line, name in dotted_uses(module)
        if _is_one_of(name, STARTING)
    ] == []


def test_the_channel_to_the_child_dials_nothing() -> None:
    """Its sockets come from a pair or from the parent; none is given an address."""
    calls = [
        (module.name, node.lineno, node.func.attr, {each.arg for each in node.keywords}, node.args)
        for module in modules()
        if module.name.startswith(CHANNEL)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {*CONNECTING, *PAIRED_BY, "connect"}
    ]
    assert [
        f"{name}:{line} calls {function}"
        for name, line, function, keywords, arguments in calls
        if PAIRED_BY.get(function) != keywords or arguments
    ] == []


def _outside_the_gate() -> list[Module]:
    return [
        module
        for module in modules()
        if module.room not in SERVERS and not module.name.startswith((GATE, CHANNEL))
    ]


def _is_one_of(name: str, names: Iterable[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in names)


def _words(module: Module) -> Iterator[tuple[int, str]]:
    """Yield (line, word) of everything that could name a function, however it is reached.

    `asyncio.get_running_loop().create_connection` has no dotted name, and
    `getattr(loop, "create_connection")` has none at all.
    """
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(attr=word) | ast.Name(id=word) | ast.Constant(value=str(word)):
                yield node.lineno, word
            case ast.alias(name=word):
                yield node.lineno, word.rpartition(".")[2]
