"""What is written down of an analysis whose page keeps a preview."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from geomi.analyse.page import MAX_FACT_CHARS, analyse, limit_to_preview
from geomi.model.index.analysis import (
    AnalysisRules,
    ArticleFields,
    CustomFields,
    Engine,
    ExtractedFields,
    FaqFields,
    FaqItem,
    FieldsModel,
    PolicyFields,
    PolicySection,
    ProductFields,
)
from tests.unit.analyse.made import subject

SECRET = "Nobody but the miller has ever seen the second wheel of the mill turn backwards."
MILL = subject(f"The mill stands by the river. It has two wheels. {'More of it. ' * 30}{SECRET}")
PREVIEW = replace(MILL.article, markdown="The mill stands by the river. It has two wheels.")
ENGINE = Engine("rules", "test")


@pytest.mark.req("LEG-01")
@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (FaqFields((FaqItem("Who?", SECRET),)), None),
        (
            PolicyFields("Terms", "2026-01-01", (PolicySection("One", SECRET),)),
            PolicyFields("Terms", "2026-01-01", ()),
        ),
        (
            ProductFields(
                name="Wheel",
                description=SECRET,
                specifications=(("size", "2 m"), ("about", SECRET + "x" * MAX_FACT_CHARS)),
            ),
            ProductFields(name="Wheel", specifications=(("size", "2 m"),)),
        ),
        (
            ArticleFields("The mill", None, None, None, None, None, None),
            ArticleFields("The mill", None, None, None, None, None, None),
        ),
    ],
    ids=["faq", "policy", "product", "story"],
)
def test_running_text_is_left_out_of_fields(
    data: ProductFields | FaqFields | PolicyFields | ArticleFields, kept: object
) -> None:
    known = analyse(MILL, AnalysisRules())
    told = replace(known, fields=ExtractedFields(FieldsModel.ARTICLE, data, 0.9, ENGINE))
    left = limit_to_preview(told, PREVIEW)
    assert (left.fields.data if left.fields else None) == kept
    assert SECRET not in json.dumps(asdict(left))
    assert left.summary is not None and left.summary.short == "The mill stands by the river."
    assert (left.quality, left.decision) == (known.quality, known.decision)
    assert left.summary.keywords == (known.summary.keywords if known.summary else ())


def test_of_a_jobs_own_fields_only_facts_are_kept() -> None:
    long, short = "x" * (MAX_FACT_CHARS + 1), "x" * MAX_FACT_CHARS
    data = {"a": long, "b": short, "c": [long, 1], "d": {"e": long, "f": True}}
    told = replace(analyse(MILL, AnalysisRules()), custom=CustomFields(data, (), (), "", ENGINE))
    kept = limit_to_preview(told, PREVIEW).custom
    assert kept is not None
    assert kept.data == {"a": None, "b": short, "c": [None, 1], "d": {"e": None, "f": True}}


def test_what_was_not_asked_for_stays_so() -> None:
    known = analyse(MILL, AnalysisRules(summary=False))
    assert limit_to_preview(known, PREVIEW).summary is None
