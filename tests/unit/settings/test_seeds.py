"""Whose dataset is where, as the environment says it."""

from __future__ import annotations

import pytest

from geomi.errors import ConfigError
from geomi.settings.process import read_settings
from geomi.settings.seeds import MAX_DATASETS, read_datasets


@pytest.mark.req("SED-37")
def test_each_tenant_has_its_root() -> None:
    env = {"GEOMI_DATASETS": "acme=s3://newsfork-datasets-staging, umbrella=/srv/a=b"}
    settings = read_settings(env, {}, {})
    assert read_datasets(settings.datasets) == {
        "acme": "s3://newsfork-datasets-staging",
        "umbrella": "/srv/a=b",
    }
    assert read_datasets(()) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/srv/seeds", "does not name a tenant's dataset"),
        ("acme=", "does not name a tenant's dataset"),
        ("=/srv/seeds", "does not name a tenant's dataset"),
        ("../acme=/srv/seeds", "does not name a tenant's dataset"),
        ("Acme=/srv/seeds", "does not name a tenant's dataset"),
    ],
)
def test_what_names_no_root_is_refused(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as refused:
        read_datasets([text])
    assert "GEOMI_DATASETS=" in refused.value.hint


def test_a_tenant_has_one() -> None:
    with pytest.raises(ConfigError, match="`acme` has two datasets, `/a` and `/b`"):
        read_datasets(["acme=/a", "acme=/b"])


def test_there_are_so_many_at_most() -> None:
    texts = [f"t{number}=/srv/{number}" for number in range(MAX_DATASETS + 1)]
    assert len(read_datasets(texts[:-1])) == MAX_DATASETS
    with pytest.raises(ConfigError, match=f"{MAX_DATASETS + 1} datasets"):
        read_datasets(texts)
