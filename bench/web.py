"""The web that is crawled and what serves it: made once, kept in the scratch folder.

Generator, nginx configuration and Scrapy programs are those of `../shared/harness/peers`, used in
place. Where that folder is absent, `generate.py` and the configuration below stand in. The scratch
folder is `$GEOMI_BENCH_DIR`, or `~/.cache/geomi-bench`.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT.parent / "shared" / "harness" / "peers"
SCRATCH = Path(os.environ.get("GEOMI_BENCH_DIR", "~/.cache/geomi-bench")).expanduser()
PEER_PACKAGES = ("scrapy", "uvloop", "selectolax", "trafilatura", "lxml_html_clean")
PAGES, HOSTS, SEED, PORT = 5000, 50, 7, 8800

NGINX_CONF = f"""
{"user root;" if os.geteuid() == 0 else ""}
worker_processes 1;
pid nginx.pid;
error_log nginx.err warn;
events {{ worker_connections 8192; multi_accept on; }}
http {{
  include /etc/nginx/mime.types; default_type text/html; charset utf-8;
  access_log off; sendfile on; tcp_nopush on; keepalive_timeout 120s; keepalive_requests 1000000;
  open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
  server {{ listen {PORT} backlog=4096; root site; }}
}}
"""


class BenchError(Exception):
    """Something the measurement needs is missing; the message says what to do."""


def find_nginx() -> str:
    """Return nginx's path, installing Debian's `nginx-light` where that is ours to do."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found:
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise BenchError("nginx is not installed; `apt-get install nginx-light` brings it")
    say("installing nginx-light …")
    for step in ("update", "install -y nginx-light"):
        quiet(["apt-get", *step.split()])
    stop_packaged_nginx()
    return find_nginx()


def stop_packaged_nginx() -> None:
    """End the service that the package has just started; the bench brings its own."""
    with contextlib.suppress(OSError, ValueError):
        pid = int(Path("/run/nginx.pid").read_text())
        if Path(f"/proc/{pid}/comm").read_text().strip() == "nginx":
            os.kill(pid, signal.SIGQUIT)


def prepare_web() -> Path:
    """Generate the web once and return the folder that holds `site` and `urls.txt`."""
    has_peers = PEERS.is_dir()
    folder = SCRATCH / ("peers" if has_peers else "own")
    complete = folder / ".complete"
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "out").mkdir(parents=True)
        say(f"generating {PAGES} pages in {folder} …")
        generator = PEERS / "gen_site.py" if has_peers else ROOT / "bench" / "generate.py"
        quiet([sys.executable, str(generator), "site", str(PAGES), str(HOSTS), str(SEED)], folder)
        complete.touch()
    if not has_peers:
        (folder / "nginx.conf").write_text(NGINX_CONF)
    for page in folder.glob("site/**/*.html"):
        page.read_bytes()  # so that nobody's first round waits for the disk
    return folder


def prepare_peers() -> Path | None:
    """Return the interpreter of the peers' own environment, or None where Scrapy cannot be had."""
    python = SCRATCH / "venv" / "bin" / "python"
    complete = SCRATCH / "venv" / ".complete"
    if complete.exists():
        return python
    say("installing Scrapy into its own environment …")
    try:
        quiet([sys.executable, "-m", "venv", "--clear", str(SCRATCH / "venv")])
        quiet([str(python), "-m", "pip", "install", "--quiet", *PEER_PACKAGES])
    except BenchError as error:
        say(f"Scrapy is left out: {error}")
        return None
    complete.touch()
    return python


def prepare_checkout(commit: str) -> Path:
    """Return a worktree of this repository at a commit; made once for each."""
    named = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    if not named:
        raise BenchError(f"`{commit}` is no commit of this repository")
    folder = SCRATCH / "commits" / named
    if not (folder / "src").is_dir():
        quiet(["git", "worktree", "prune"], ROOT)
        quiet(["git", "worktree", "add", "--force", "--detach", str(folder), named], ROOT)
    return folder


@contextlib.contextmanager
def serving(nginx: str, web: Path) -> Iterator[int]:
    """Serve the web in the foreground of a child process; yield its process id."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            raise BenchError(f"port {PORT} is taken; end what listens there")
    conf = PEERS / "nginx.conf" if PEERS.is_dir() else web / "nginx.conf"
    command = [nginx, "-p", f"{web}/", "-c", str(conf), "-e", "nginx.err", "-g", "daemon off;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(process)
            yield process.pid
        finally:
            process.terminate()


def wait_for_port(process: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", PORT)):
            return
        time.sleep(0.05)
    raise BenchError("nginx did not start; its reason is in nginx.err in the scratch folder")


def quiet(command: list[str], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise BenchError(f"`{shlex.join(command[:4])} …` failed: {' '.join(last)}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
