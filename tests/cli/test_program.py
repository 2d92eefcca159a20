"""The program's edge: what is wrong with a command line or a file, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from geomi.cli import program
from geomi.cli.program import main
from geomi.errors import (
    ConfigError,
    GeomiError,
    NothingFetched,
    StoreError,
    StoreFull,
    StoreTooNew,
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where no configuration lies, with no setting of this machine's own."""
    monkeypatch.chdir(tmp_path)
    for name in ("GEOMI_CONFIG", "GEOMI_CONTACT", "GEOMI_CRAWL_MAX_PAGES"):
        monkeypatch.delenv(name, raising=False)


def told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    """Run a command in this process; return its code, its first error and its hint."""
    monkeypatch.setattr(sys, "argv", ["geomi", *arguments])
    code = main()
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line for line in captured.err.splitlines() if not line.startswith("warning: ")]
    assert lines[0].startswith("error: ")
    assert all(line.startswith("hint: ") for line in lines[1:])
    assert len(lines) <= 2
    return code, lines[0], "".join(lines[1:])


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ("crawl", "no URL to start from", "geomi crawl https://"),
        ("scrape", "Missing argument 'URL'", "geomi scrape --help"),
        ("fly", "No such command 'fly'", "geomi --help"),
        ("jobs fly", "No such command 'fly'", "geomi jobs --help"),
        ("crawl http://a.test/ --dept 3", "No such option: --dept", "geomi crawl --help"),
        ("crawl http://a.test/ -n many", "Invalid value for '-n'", ""),
        ("export -f pdf", "'pdf' is not one of 'md', 'jsonl', 'warc'", "geomi export --help"),
        ("crawl ftp://a.test/", "`ftp://a.test/` is not a URL that can be crawled", "https://"),
        ("crawl http://", "`http://` is not a URL", ""),
        ("why javascript:x", "`javascript:x` is not a URL", ""),
        ("crawl http://a.test/ -n -1", "limits.max_pages = `-1` (flag --max-pages)", ""),
        ("crawl http://a.test/ -d 1001", "limits.max_depth = `1001` (flag --depth)", ""),
        ("crawl http://a.test/ --delay -0.1", "politeness.delay_s = `-0.1`", ""),
        ("crawl http://a.test/ --delay nan", "politeness.delay_s = `nan`", ""),
        ("crawl http://a.test/ --concurrency 0", "politeness.concurrency = `0`", ""),
        ("crawl http://a.test/ --workers 65", "run.workers = `65`", ""),
        ("crawl http://a.test/ --scope moon", "scope.within = `moon`", ""),
        ("crawl http://a.test/ -f pdf", "run.format = `pdf`", ""),
        ("crawl http://a.test/ -H nonsense", "`nonsense` is not a header", "'Name: value'"),
        ("crawl http://a.test/ --profile fast", "no profile `fast`", "default, docs"),
        ("crawl http://a.test/ --resolve a", "`a`", ""),
        (
            "crawl http://a.test/ --config none.toml",
            "cannot read configuration `none.toml`: No such file or directory",
            "a TOML file",
        ),
        ("crawl http://a.test/ -x re:(", "is not an RE2 expression: missing ): (", ""),
        ("crawl http://a.test/ --set limits.max_pages", "has no value", "KEY=VALUE"),
        ("crawl http://a.test/ --user-agent=", "--user-agent is empty", "leave it out"),
        ("crawl http://a.test/ --profile=", "--profile is empty", "leave it out"),
        ("crawl http://a.test/ --include=", "--include is empty", "leave it out"),
        ("crawl http://a.test/ --format=", "--format is empty", "leave it out"),
        ("crawl http://a.test/ --output=", "--output is empty", "leave it out"),
        ("status --output=", "--output is empty", "leave it out"),
        ("crawl http://a.test/ --set scope.hosts=///", "host `///`", "example.org"),
        ("crawl http://a.test/ --set limits.max_page=1", "`limits.max_page`", "limits.max_pages"),
        ("restore none.tar", "there is no backup `none.tar`", ""),
        ("restore none.tar -o .", "the directory you are in cannot", "-o DIR"),
        ("crawl http://a.test/ -n 9223372036854775808", "input should be at most 922", ""),
        ("crawl http://a.test/ --user-agent Mozilla/5.0", "uses the name of another", "my-craw"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_code_2(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    error: str,
    hint: str,
) -> None:
    code, first, second = told(monkeypatch, capsys, *arguments.split())
    assert code == 2
    assert error in first
    assert hint in second
    assert list(Path().iterdir()) == [], "nothing was made"


@pytest.mark.parametrize(
    ("toml", "error", "hint"),
    [
        (
            "[crawl]\nmax_page = 5\n",
            "unknown crawl setting in `geomi.toml`: `max_page`",
            "max_pages",
        ),
        ("[crawl.limits]\nmax_dept = 5\n", "unknown crawl setting", "limits.max_depth"),
        ("[craw]\n", "unknown table in `geomi.toml`: `craw`", "crawl"),
        ("[geomi]\ncontakt = 1\n", "unknown setting in [geomi]: `contakt`", "contact"),
        ("[crawl]\nmax_pages = 'x'\n", "limits.max_pages = `x` (file geomi.toml", ""),
        ("crawl = 1\n", "must be tables", "[crawl]"),
        ("[crawl\n", "cannot read configuration `geomi.toml`", ""),
        ("\xff", "cannot read configuration `geomi.toml`", ""),
    ],
)
def test_a_wrong_file_is_named_with_the_nearest_key(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    toml: str,
    error: str,
    hint: str,
) -> None:
    Path("geomi.toml").write_bytes(toml.encode("latin-1"))
    code, first, second = told(monkeypatch, capsys, "crawl", "http://a.test/")
    assert code == 2
    assert error in first
    assert hint in second


def test_a_wrong_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEOMI_CRAWL_MAX_PAGES", "few")
    _, first, _ = told(monkeypatch, capsys, "crawl", "http://a.test/")
    assert "limits.max_pages = `few` (environment GEOMI_CRAWL_MAX_PAGES)" in first


def test_a_misspelled_variable_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEOMI_CONTATC", "me")
    _, first, second = told(monkeypatch, capsys, "crawl", "http://a.test/")
    assert "unknown variable `GEOMI_CONTATC`" in first
    assert "GEOMI_CONTACT" in second


@pytest.mark.req("C-04", "LEG-08")
@pytest.mark.parametrize(
    ("contact", "flags", "warns"),
    [
        ("", (), True),
        ("https://example.org/crawler", (), False),
        ("https://example.org/crawler", ("--user-agent", "my-bot/1"), True),
        ("", ("--user-agent", "my-bot/1 (+https://example.org/)"), False),
        ("", ("--profile", "scanner"), True),
        ("", ("--profile", "docs"), True),  # the address in its name is not ours
        ("https://example.org/crawler", ("--profile", "docs"), False),
    ],
)
def test_a_crawl_without_a_contact_warns(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    contact: str,
    flags: tuple[str, ...],
    warns: bool,
) -> None:
    """The address is one that nobody has, so that nothing is sent."""
    monkeypatch.setenv("GEOMI_CONTACT", contact)
    monkeypatch.setattr(sys, "argv", ["geomi", "crawl", "http://192.0.2.1/", "-n", "1", *flags])
    assert main() == NothingFetched.exit_code
    warned = "warning: sites cannot see who crawls them" in capsys.readouterr().err
    assert warned is warns


def test_a_variable_that_says_nothing_is_named_to_whoever_wants_to_know(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEOMI_LOG_LEVEL", "debug")
    monkeypatch.setattr(sys, "argv", ["geomi", "crawl", "http://192.0.2.1/", "-v"])
    main()
    assert "note: geomi does not know the variable GEOMI_LOG_LEVEL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (GeomiError("x"), 1),
        (ConfigError("x"), 2),
        (StoreFull("x"), 3),
        (StoreError("x"), 4),
        (StoreTooNew("x"), 4),
        (NothingFetched("x"), 5),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_ends_in_its_own_code(error: BaseException, code: int) -> None:
    assert program._run(lambda: _raise(error)) == code


def test_an_error_nobody_expected_shows_where_it_came_from_on_printable_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert program._run(lambda: _raise(ValueError("odd \x1b[2J"))) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: unexpected ValueError: odd \\x1b[2J\nhint: ")
    assert "Traceback" in shown.err
    assert "\x1b" not in shown.err


@pytest.mark.parametrize("leaves", [BrokenPipeError(), SystemExit(1)])
def test_a_reader_that_leaves_is_told_apart(leaves: BaseException) -> None:
    with pytest.raises(BrokenPipeError):
        program._run(lambda: _raise(leaves))


def _raise(error: BaseException) -> None:
    raise error


def test_a_stream_that_was_closed_before_the_start_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    monkeypatch.setattr(sys, "argv", ["geomi", "config", "show"])
    assert main() == 0
    monkeypatch.setattr(sys, "argv", ["geomi", "fly"])
    assert main() == 2
    assert sys.stdin.read() == ""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        os.close(stream.fileno())
