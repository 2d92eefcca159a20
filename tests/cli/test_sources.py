"""Where a crawl starts, when a provider or contracts are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.cli.collect.crawl import MAX_LISTED, CrawlSource
from geomi.engine.seeds import handover as handing
from geomi.errors import ConfigError, UnknownName
from geomi.settings.layers import flags_layer, resolve
from geomi.settings.options import Settings
from tests.support.seed_contracts import lay_contract


def test_urls_alone() -> None:
    named = CrawlSource(None, None)
    assert not named
    assert named.seeds(["https://a.test/"], resolve([]), Settings()) == ["https://a.test/"]
    named.tell()


def test_one_place_to_start_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--provider and --from-prod both name the start URLs"):
        CrawlSource("stripe", str(tmp_path))
    lay_contract(tmp_path, ["https://mom.gov.sg/"], domain="mom.gov.sg")
    for named, told in (
        (
            CrawlSource(None, str(tmp_path)),
            "contracts have their own start URLs; you also gave `https://a.test/`",
        ),
        (CrawlSource("stripe", None), "provider `stripe` has its own start URLs"),
    ):
        found = resolve([named.layer([], Settings())])
        with pytest.raises(ConfigError, match=told):
            named.seeds(["https://a.test/"], found, Settings())


def test_an_unknown_provider() -> None:
    with pytest.raises((ConfigError, UnknownName)):
        CrawlSource("nobody", None).layer([], Settings())


def test_a_dataset_without_contracts(tmp_path: Path) -> None:
    named = CrawlSource(None, str(tmp_path))
    found = resolve([named.layer([], Settings())])
    with pytest.raises(ConfigError, match=r"can crawl no contract below file:[^ ]*$"):
        named.seeds([], found, Settings())
    metadata = lay_contract(tmp_path, ["https://mom.gov.sg/"], domain="mom.gov.sg")
    metadata.unlink()
    named = CrawlSource(None, str(tmp_path))
    found = resolve([named.layer([], Settings())])
    with pytest.raises(
        ConfigError, match=r"no contract below .*: mom\.gov\.sg: its contract is unfin"
    ):
        named.seeds([], found, Settings())


def test_what_was_left_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(handing, "MAX_CONTRACTS", MAX_LISTED + 2)
    root = tmp_path / "dataset"
    lay_contract(root, ["https://a.sg/", "https://a.sg/private/x"], domain="a.sg")
    for number in range(MAX_LISTED + 2):
        lay_contract(root, ["https://b.sg/"], domain=f"b{number:02}.sg").unlink()
    named = CrawlSource(None, str(root))
    flags = flags_layer({"exclude": ("/private/**",)})
    found = resolve([flags, named.layer([flags], Settings())])
    assert named.seeds([], found, Settings()) == ["https://a.sg/"]
    named.tell()
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "contracts: 1, with 1 start URLs"
    assert told[1] == "left out: b00.sg: its contract is unfinished"
    assert len(told) == 1 + MAX_LISTED + 2
    assert told[-2] == "left out: 2 more"
    assert told[-1] == "left out: 1 contracts after these; name a smaller partition"
