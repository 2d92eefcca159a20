"""The lines of a list of bad domains, as their publishers write them."""

from __future__ import annotations

import pytest

from geomi.admit.domain_list import MAX_LINE_CHARS, pack, read_domains, unpack

KEPT = {
    "0.0.0.0 bad.test": {"bad.test"},
    "127.0.0.1\tbad.test  worse.test # why": {"bad.test", "worse.test"},
    "::1 bad.test": {"bad.test"},
    "Bad.Test.": {"bad.test"},
    "*.bad.test": {"bad.test"},
    ".bad.test": {"bad.test"},
    "www.bad.test": {"www.bad.test"},
    "나쁜.test": {"xn--910b021a.test"},
    "1.1.1.1": {"1.1.1.1"},
    "||bad.test^": {"bad.test"},
    "||bad.test^$all,important": {"bad.test"},
    "||bad.test^\n||good.test^\n@@||good.test^$important": {"bad.test"},
    "under_score.bad.test": {"under_score.bad.test"},
}
PASSED_OVER = (
    "# comment", "! comment", "[Adblock Plus 2.0]", "127.0.0.1 localhost", "localhost.localdomain",
    "0.0.0.0 0.0.0.0", "co.uk", "github.io", "192.168.1.1", "||bad.test^$third-party",
    "||bad.test/path^", "||bad.test^$script,domain=x.test", "192.168.1.1 router.lan",
    "255.255.255.255 broadcasthost", "bad.test" + ".x" * MAX_LINE_CHARS, "https://bad.test/evil",
)  # fmt: skip


@pytest.mark.parametrize("text", KEPT)
def test_a_line_names_domains(text: str) -> None:
    names = read_domains(text.encode(), "list")
    assert names == KEPT[text]
    assert set(unpack(pack(names))) == names


@pytest.mark.parametrize("line", PASSED_OVER)
def test_a_line_names_nothing_for_us(line: str) -> None:
    text = f"known.test\nanother.test\n{line}\n"
    assert read_domains(text.encode(), "list") == {"known.test", "another.test"}
