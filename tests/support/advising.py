"""Pages for models to be asked about, answers by what is asked, and the advisor in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from geomi.adapters.models.openai import OpenAiModel
from geomi.analyse.page import analyse
from geomi.engine.enrich.language_model import LanguageModels, ModelAdvisor
from geomi.model.config import CrawlConfig
from geomi.model.index.analysis import Analysis, AnalysisInput, AnalysisRules, Engine, PageType
from geomi.model.index.language_model import CostLine, ModelPrice, ModelPurpose
from geomi.model.job import CrawlJob, JobState
from geomi.model.page import Article
from geomi.text.language import count_words
from tests.support.crawl import Ear, home_in
from tests.support.models import ModelServer, Scripted

NOW_S = 1_763_251_200.0  # 2025-11-16
WEIGHTS = Engine("kinds", "test")
# An answer of 100 + 20 tokens costs 1400 millionths of a dollar.
PRICE = ModelPrice(10_000_000, 20_000_000)
ANSWER_MICROS = 1400

TEXT = """# The old bridge at Langwies

The bridge was opened in the summer of 1914, when the railway to Arosa had been under way for two
years. Its main arch spans a hundred metres and was the longest of its kind for a short while.

## How it was built

A wooden frame carried the concrete until it was hard enough to stand alone. The carpenter who
designed the frame had built others before, yet none that stood so high above a river. Every beam
was numbered on the ground, lifted by a cable, and put in its place by four men who knew each other
well. When the frame came down in autumn the arch sank by less than a finger's breadth.

## What it carries today

Trains cross it every hour, and slowly, because the view is what most passengers have come for. The
concrete was repaired in 2009 and again ten years later, and engineers look at it twice a year. They
measure how far the middle of the arch moves between a cold morning and a warm evening, and write it
into a book that goes back to the first winter. Nothing in that book has ever worried them.
"""


def type_told(category: str, confidence: float = 0.99) -> str:
    """Answer what kind of page it is."""
    return json.dumps({"category": category, "confidence": confidence, "reasoning": "it is"})


def quality_told(overall: float, *flags: str) -> str:
    """Answer how good a page is, on all scales alike."""
    scales = dict.fromkeys(("originality", "depth", "readability", "relevance"), overall)
    told = {"scores": scales, "overall": overall, "flags": list(flags), "summary": "a page"}
    return json.dumps(told)


def product_told(**changed: object) -> str:
    """Answer the fields of a product, all of which are missing but for these."""
    names = "name description price salePrice sku brand category inStock".split()
    told = dict.fromkeys(names) | {"specifications": [], "images": [], "confidence": 0.9}
    return json.dumps({**told, **changed})


def by_form(**answers: Scripted) -> Callable[[dict[str, Any]], Scripted]:
    """Answer by the name of the form that is asked for; whatever else is asked is too much."""
    return lambda question: answers.get(form_of(question), (503, "busy"))


def form_of(question: dict[str, Any]) -> str:
    """Return the name of the form that was asked for."""
    return str(question["response_format"]["json_schema"]["name"])


def subject(
    markdown: str = TEXT, *, url: str = "https://a.test/page", **known: Any
) -> AnalysisInput:
    """Make a page to be understood; `known` are fields of the article."""
    words = count_words(markdown, "en")
    article = Article("The old bridge", markdown, markdown, (), language="en", words=words)
    return AnalysisInput(url, replace(article, **known), NOW_S)


def understood(
    page: AnalysisInput,
    rules: AnalysisRules,
    *,
    page_type: PageType | None = None,
    confidence: float = 0.5,
    engine: Engine = WEIGHTS,
) -> Analysis:
    """Analyse a page without a model, as if it had been of that type."""
    known = analyse(page, rules)
    if page_type is None or known.classification is None:
        return known
    kind = replace(known.classification, page_type=page_type, confidence=confidence, engine=engine)
    return replace(known, classification=kind, fields=None)


@dataclass
class Advised:
    """What came of asking models: each analysis, the ledger, what was told."""

    analyses: list[Analysis] = field(default_factory=list)
    lines: list[CostLine] = field(default_factory=list)
    ear: Ear = field(default_factory=Ear)

    @property
    def analysis(self) -> Analysis:
        """The only one."""
        (one,) = self.analyses
        return one

    @property
    def micros(self) -> int:
        """What was paid in all."""
        return sum(line.micros for line in self.lines)


async def advise(
    root: Path, endpoint: str, rules: AnalysisRules, *pages: tuple[AnalysisInput, Analysis]
) -> Advised:
    """Let a server's models have their say on pages, and read the ledger."""
    advised = Advised()
    async with advisor_in(root, endpoint, rules, advised.ear) as (advisor, read_lines):
        for page, known in pages:
            advised.analyses.append(await advisor.advise(page, known, rules))
        advised.lines += await read_lines()
    return advised


@asynccontextmanager
async def advisor_in(
    root: Path, endpoint: str, rules: AnalysisRules, ear: Ear
) -> AsyncIterator[tuple[ModelAdvisor, Callable[[], Any]]]:
    """Open a data directory and an advisor in it, with a way to read the ledger."""
    async with home_in(root, ear) as home:
        model = OpenAiModel(home.world.fetcher, endpoint, "tiny")
        purposes = (ModelPurpose.CLASSIFY, ModelPurpose.QUALITY, ModelPurpose.EXTRACT)
        panel = LanguageModels(
            "server",
            dict.fromkeys(purposes, model),
            lambda _, answer: PRICE.of(answer.tokens_in, answer.tokens_out),
        )
        config = replace(CrawlConfig(), analysis=rules)
        job = CrawlJob("job-1", "local", (), config, JobState.PROCESSING, 0.0)
        yield ModelAdvisor(home.world, job, panel), home.world.store.costs.list


def forms(server: ModelServer) -> list[str]:
    """Return what a server was asked for, in order."""
    return list(map(form_of, server.asked))
