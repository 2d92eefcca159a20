"""`Settings` of the process and `RunOptions`, and the short names of common crawl settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le

from geomi.model.job import DEFAULT_PROFILE

MIB = 1024 * 1024
GITHUB_URL = "https://api.github.com"

Format = Literal["md", "jsonl", "warc", "llms", "llms-full", "cdxj", "parquet"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How this process runs; the environment name of each field is `GEOMI_` and its name."""

    contact: str = ""  # who answers for the crawler: a URL or an e-mail address
    min_delay_s: Annotated[float, Ge(0), Le(3600)] = 1.0  # the floor for public hosts
    allow_private: bool = False
    allow_ignoring_robots: bool = True  # tenants of a service may switch robots.txt off
    resolve: tuple[str, ...] = ()
    ca_file: str = ""
    http_proxy: str = ""
    https_proxy: str = ""
    no_proxy: str = ""
    db: str = ""  # the URL of a database in place of the file in the data directory
    blobs: str = ""  # the URL of a bucket for the archive, in place of the data directory
    region: str = ""  # where this process is; hosts that name regions are lent to theirs alone
    silence_s: Annotated[float, Ge(0.5), Le(3600)] = 60.0  # after it, a worker's hosts are others'
    answer_s: Annotated[float, Ge(1), Le(3600)] = 30.0  # after it, a stuck worker is replaced
    index: str = ""  # a folder or bucket for LanceDB, in place of the data directory
    # Processes that index pages for `geomi crawl --index`, `geomi enrich` and a service.
    index_workers: Annotated[int, Ge(1), Le(64)] = 1
    embedder: str = ""  # onnx:FOLDER, openai:MODEL or titan
    embedder_languages: tuple[str, ...] = ("en",)  # those that it understands
    model_endpoint: str = ""  # an OpenAI-compatible server, such as http://127.0.0.1:8080/v1
    model_key: str = ""
    model: str = ""  # which of its models is asked for page types and quality
    model_extract: str = ""  # which is asked for fields; the same where nothing is said
    model_prices: tuple[str, ...] = ()  # name=IN/OUT, in dollars for a million tokens
    unit_prices: tuple[str, ...] = ()  # part=DOLLARS a page, for estimates
    context7_url: str = ""  # a source of external documents, such as https://context7.com
    context7_key: str = ""
    github_url: str = GITHUB_URL  # of providers that name an API, or a server like it
    github_token: str = ""
    # URLs of all jobs that wait at once; 0: no limit. None is that too, except in a service (G-03).
    max_queued: Annotated[int, Ge(0)] | None = None
    max_fetches: Annotated[int, Ge(1), Le(10_000)] = 100  # at once, of all a server starts (G-03)
    session_pages: Annotated[int, Ge(0)] = 5000  # of all providers in one session; 0: no limit
    session_hours: Annotated[float, Ge(0)] = 3.0  # a longer one is warned of (MON-06); 0: none is
    datasets: tuple[str, ...] = ()  # tenant=URL, a root of the seed engine for each of them
    sign_in_key: str = ""  # encrypts what is kept for signing in, in place of a file's key
    alarm_url: str = ""  # a Slack-compatible webhook that alarms are sent to
    api_rate_per_minute: Annotated[int, Ge(0), Le(1_000_000)] = 600  # of each key; 0: no limit
    # Seconds of CPU that plans, previews, explanations and searches of a tenant take; 0: no limit.
    api_cpu_per_minute: Annotated[float, Ge(0), Le(3600)] = 10.0
    # How long the log of requests is kept, which proves politeness; 0: for good.
    request_log_days: Annotated[int, Ge(0), Le(36_500)] = 400
    min_free_bytes: Annotated[int, Ge(0)] = 64 * MIB  # stop before the disk is full
    # Connections of clients to a service; None for as many as there are file handles for.
    max_connections: Annotated[int, Ge(1), Le(20_000)] | None = None
    max_connections_per_address: Annotated[int, Ge(0), Le(20_000)] = 100  # 0: no limit
    header_timeout_s: Annotated[float, Ge(1), Le(3600)] = 10.0  # for a request's header, whole
    body_timeout_s: Annotated[float, Ge(1), Le(3600)] = 10.0  # for a body below the least rate
    answer_timeout_s: Annotated[float, Ge(1), Le(3600)] = 30.0  # for who reads below that rate
    idle_timeout_s: Annotated[float, Ge(1), Le(3600)] = 30.0  # between two requests


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How one crawl is run and what it leaves behind; not part of what the job decides."""

    output: str = "geomi-data"
    profile: str = DEFAULT_PROFILE
    workers: Annotated[int, Ge(1), Le(64)] = 1
    format: tuple[Format, ...] = ("md", "jsonl", "warc")


# Option names of the command line, `GEOMI_CRAWL_*` and `[crawl]`, and the setting each stands for.
OPTIONS: dict[str, str] = {
    "max_pages": "limits.max_pages",
    "depth": "limits.max_depth",
    "max_time": "limits.max_time_s",
    "max_bytes": "limits.max_bytes",
    "include": "scope.include",
    "exclude": "scope.exclude",
    "scope": "scope.within",
    "delay": "politeness.delay_s",
    "concurrency": "politeness.concurrency",
    "user_agent": "http.user_agent",
    "header": "http.headers",
    "contact": "http.contact",
    "output": "run.output",
    "profile": "run.profile",
    "workers": "run.workers",
    "format": "run.format",
}
