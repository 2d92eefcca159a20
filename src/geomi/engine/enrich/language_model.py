"""Ask a language model about a page, and decide how much of its answer to use.

The embedded analysis comes first. Whatever goes wrong with a model, that analysis holds. A model
is asked for a type only where the weights are unsure. It is asked for fields only of products,
FAQs and policies where the rules are unsure of them. It is asked for names of people only where the
job looks for them (SAF-02). It is asked nothing once the job's budget is
spent, nor about a page that is kept out in any case. Its answer adds to what was computed:

- A type that a rule decided stays.
- A flag that counting raised stays up, and such a page is rated no better than counted. Any other
  rating moves by `MAX_SHIFT` at most, so that no page can raise its own rating from poor to good.
- A model's field counts only where it stands on the page (ANA-17), and only fills a gap.
- A name counts only where it stands on the page. The page is stored by then: a job that redacts or
  skips does not index it.
- The same gate decides again, from the same values.

An answer that is no JSON, or not of the requested form, is sent back once with its problem (C-72).
After that there is no answer, and the caller uses what needs no model. Every call that was paid
for is entered in the bill, also where it brought nothing. An answer may repeat what a page says,
so it is sent back between marks, as the page is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from math import ceil
from typing import Generic, TypeVar

from geomi.analyse.classify import RULES
from geomi.analyse.fields.custom import filled, missing_in, read_answered_custom
from geomi.analyse.fields.custom_schema import form_of, read_schema
from geomi.analyse.fields.grounding import grounded, joined
from geomi.analyse.language_model import (
    EXTRACT_CHARS,
    FIELDS,
    VERSION,
    ask_for_custom,
    ask_for_fields,
    ask_for_names,
    ask_for_quality,
    ask_for_type,
    enclosed,
    read_answered_fields,
    read_names,
    read_quality,
    read_type,
    visible,
)
from geomi.analyse.page import decide_anew, read_fields_anew
from geomi.engine.world import World
from geomi.errors import ModelError
from geomi.model.config import CrawlConfig, Safety
from geomi.model.event import Warned
from geomi.model.index.analysis import (
    Analysis,
    AnalysisInput,
    AnalysisRules,
    Classification,
    CustomFields,
    Engine,
    ExtractedFields,
    IndexReason,
    PageQuality,
    PageType,
)
from geomi.model.index.language_model import MICROS, CostLine, ModelPurpose, ModelReply, Prompt
from geomi.model.job import CrawlJob
from geomi.model.personal_data import PiiAction, PiiKind
from geomi.ports.models import LanguageModel
from geomi.private.detect import count

# The weights are right in 96 of 100 cases where they are at least so sure (`kinds.json`).
SURE = 0.8
MAX_SHIFT = 2.0  # of 10
# Of a page that a model alone calls a product, rules have to find name, description and price.
LIKELY = 0.5
NO_ANSWER = "no model gave an answer that fits the schema; geomi used structured data alone"
# Reasons to keep a page out that no answer of a model can take away.
_SETTLED = frozenset(
    {
        IndexReason.NOINDEX,
        IndexReason.TOO_SHORT,
        IndexReason.PERSONAL_DATA,
        IndexReason.SENSITIVE,
        IndexReason.COPYRIGHT,
    }
)
T = TypeVar("T")
MAX_CALLS = 2  # C-72
MAX_PROBLEM_CHARS = 300
MAX_REPEATED_CHARS = 4000  # of an answer that is sent back


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """The models that may be asked.

    Args:
        provider: the name they stand under in the ledger.
        price: of an answer of the model that was asked by this name, in millionths of a dollar.
        told: what a person has been told, which is told once.
    """

    provider: str
    models: Mapping[ModelPurpose, LanguageModel]
    price: Callable[[str, ModelReply], int]
    told: set[str] = field(default_factory=set)

    def name_for(self, config: CrawlConfig) -> str:
        """Return everyone who may be asked about a job's pages, and the way they are asked."""
        asked = ", ".join(
            f"{purpose} {model.name}"
            for purpose, model in self.models.items()
            if purpose is not ModelPurpose.NAMES or looks_for_names(config.safety)
        )
        return f"{VERSION}: {asked}"


class ModelAdvisor:
    """Asks the models of a panel about the pages of one job."""

    def __init__(self, world: World, job: CrawlJob, panel: LanguageModels) -> None:
        self._world = world
        self._job = job.id
        self._panel = panel
        self._safety = job.config.safety
        self._budget_micros = ceil(job.config.analysis.budget_usd * MICROS)  # 0: no limit
        self._is_spent = False

    async def advise(
        self, subject: AnalysisInput, known: Analysis, rules: AnalysisRules
    ) -> Analysis:
        """Return the analysis of a page with what models add to it."""
        if known.decision.reason in _SETTLED or subject.duplicate_of:
            return known
        if looks_for_names(self._safety):
            subject, known = await self._names(subject, known)
            known = replace(known, decision=decide_anew(subject, known, rules))
        if known.decision.reason is IndexReason.PERSONAL_DATA:
            return known
        kind = await self._type(subject, known.classification)
        if kind is not None and kind != known.classification:
            fields = read_fields_anew(subject, kind.page_type, rules)
            is_likely = fields is not None and fields.confidence >= LIKELY
            known = replace(known, classification=kind, fields=fields if is_likely else None)
            known = replace(known, decision=decide_anew(subject, known, rules))
        if known.decision.reason is IndexReason.PAGE_TYPE:
            return known
        quality = await self._quality(subject, known.quality)
        known = replace(known, quality=quality, fields=await self._fields(subject, known))
        known = replace(known, decision=decide_anew(subject, known, rules))
        if known.custom is None or not known.decision.should_index:
            return known
        return replace(known, custom=await self._custom(subject, known.custom, rules))

    async def _names(
        self, subject: AnalysisInput, known: Analysis
    ) -> tuple[AnalysisInput, Analysis]:
        """Count the people that a model finds on a page, beside those that rules have found."""
        article = subject.article
        prompt = ask_for_names(subject.url, article.title, article.markdown)
        told = await self._ask(ModelPurpose.NAMES, prompt, lambda told, _: read_names(told))
        text = f"{article.title}\n{article.markdown}"
        many = dict(count(text, (PiiKind.NAME,), told) if told else ()).get(PiiKind.NAME, 0)
        if not many:
            return subject, known
        counts = dict(known.personal)
        counts[PiiKind.NAME] = max(counts.get(PiiKind.NAME, 0), many)
        known = replace(known, personal=tuple((k, counts[k]) for k in PiiKind if k in counts))
        if not self._safety.removes:
            return subject, known
        why = f"a model found {many} names of people; safety.pii is {self._safety.pii}"
        return replace(subject, personal_data=why), known

    async def _type(
        self, subject: AnalysisInput, known: Classification | None
    ) -> Classification | None:
        if known is None or known.engine == RULES or known.confidence >= SURE:
            return known
        article = subject.article
        prompt = ask_for_type(subject.url, article.title, article.markdown)
        told = await self._ask(ModelPurpose.CLASSIFY, prompt, read_type)
        return told if told is not None and told.confidence > known.confidence else known

    async def _quality(
        self, subject: AnalysisInput, known: PageQuality | None
    ) -> PageQuality | None:
        if known is None:
            return None
        article = subject.article
        prompt = ask_for_quality(subject.url, article.title, article.markdown)
        told = await self._ask(ModelPurpose.QUALITY, prompt, read_quality)
        return known if told is None else _tempered(told, known)

    async def _fields(self, subject: AnalysisInput, analysis: Analysis) -> ExtractedFields | None:
        kind, known = analysis.classification, analysis.fields
        if kind is None or kind.page_type not in FIELDS:
            return known
        if known is not None and known.confidence >= SURE:
            return known
        article = subject.article
        prompt = ask_for_fields(subject.url, article.title, article.markdown, kind.page_type)
        read = partial(_fields_of, page_type=kind.page_type)
        told = await self._ask(ModelPurpose.EXTRACT, prompt, read)
        if told is not None:
            told = grounded(told, f"{article.title}\n{article.markdown[:EXTRACT_CHARS]}")
        return joined(known, told) if known and told else told or known

    async def _custom(
        self, subject: AnalysisInput, known: CustomFields, rules: AnalysisRules
    ) -> CustomFields:
        if all(value is not None for value in known.data.values()):
            return known
        schema, article = read_schema(rules.schema), subject.article
        prompt = ask_for_custom(subject.url, article.title, article.markdown, form_of(schema))
        told = await self._ask(
            ModelPurpose.EXTRACT,
            prompt,
            lambda answer, engine: (read_answered_custom(answer, schema), engine),
        )
        if told is None:
            return replace(known, problem=NO_ANSWER)
        page = f"{article.title}\n{article.markdown[:EXTRACT_CHARS]}"
        full = filled(known, told[0], page, told[1])
        return replace(full, missing=missing_in(full.data, schema))

    async def _ask(
        self, purpose: ModelPurpose, prompt: Prompt, read: Callable[[object, Engine], T]
    ) -> T | None:
        """Ask a model if there is one and the budget allows it; None where nothing came of it."""
        model = self._panel.models.get(purpose)
        if model is None or await self._is_over_budget():
            return None
        engine = Engine(model.name, self._panel.provider)
        consulted = await ask_model(model, prompt, lambda told: read(told, engine))
        await self._enter(purpose, model, consulted)
        return consulted.value

    async def _is_over_budget(self) -> bool:
        budget = self._budget_micros
        if (
            budget
            and not self._is_spent
            and await self._world.store.costs.spent(self._job) >= budget
        ):
            self._is_spent = True
            dollars = f"{budget / MICROS:.6f}".rstrip("0").rstrip(".")
            message = f"the budget of {dollars} $ is used up; geomi asks no model any more"
            self._warn(f"budget of {self._job}", message, "analysis.budget_usd sets it")
        return self._is_spent

    def _warn(self, about: str, message: str, hint: str) -> None:
        if about not in self._panel.told:
            self._panel.told.add(about)
            self._world.sink.emit(Warned(self._job, message, hint))

    async def _enter(
        self, purpose: ModelPurpose, model: LanguageModel, consulted: ParsedAnswer[T]
    ) -> None:
        """Write into the ledger what was read and written, and what it cost."""
        bill = consulted.bill
        day = datetime.fromtimestamp(self._world.clock.wall_s(), UTC).date().isoformat()
        line = CostLine(
            job=self._job,
            day=day,
            purpose=purpose,
            provider=self._panel.provider,
            model=model.name,
            calls=consulted.calls,
            failures=consulted.calls - (consulted.value is not None),
            tokens_in=sum(answer.tokens_in for answer in bill),
            tokens_out=sum(answer.tokens_out for answer in bill),
            micros=sum(self._panel.price(model.name, answer) for answer in bill),
        )
        await self._world.store.costs.add([line])
        if not bill:
            hint = "geomi analyses pages without it meanwhile; `geomi cost` counts the failures"
            self._warn(f"silence of {model.name}", f"no model answers: {consulted.problem}", hint)


def looks_for_names(safety: Safety) -> bool:
    """Return whether a job asks models for names of people."""
    return safety.pii is not PiiAction.OFF and PiiKind.NAME in safety.pii_types


def _fields_of(told: object, engine: Engine, *, page_type: PageType) -> ExtractedFields:
    return read_answered_fields(told, page_type, engine)


def _tempered(told: PageQuality, known: PageQuality) -> PageQuality:
    """Return a model's judgement as far as counting does not contradict it."""
    flags = tuple((flag, flag in known.raised or is_up) for flag, is_up in told.flags)
    most = known.overall + (0.0 if known.raised else MAX_SHIFT)
    overall = round(min(max(told.overall, known.overall - MAX_SHIFT), most), 1)
    return replace(told, overall=overall, flags=flags)


@dataclass(frozen=True, slots=True)
class ParsedAnswer(Generic[T]):
    """What came of a question.

    Args:
        value: None where the model gave no answer that makes sense.
        bill: every answer that was paid for.
        problem: why there is no value.
        calls: how often the model was asked; of these, one at most brought the value.
    """

    value: T | None
    bill: tuple[ModelReply, ...]
    problem: str = ""
    calls: int = 1


async def ask_model(
    model: LanguageModel, prompt: Prompt, read: Callable[[object], T]
) -> ParsedAnswer[T]:
    """Ask, and ask once more where the answer has not the form that was asked for.

    Args:
        read: makes a value of the answer's JSON; raises `ValueError` where it makes no sense.
    """
    bill: list[ModelReply] = []
    problem = ""
    asked = prompt
    for call in range(1, MAX_CALLS + 1):
        try:
            answer = await model.answer(asked)
        except ModelError as error:
            return ParsedAnswer(None, tuple(bill), error.message, call)
        bill.append(answer)
        if not answer.is_whole:
            problem = f"`{model.name}` did not complete its answer in {prompt.max_tokens} tokens"
            return ParsedAnswer(None, tuple(bill), problem, call)
        try:
            return ParsedAnswer(read(_parsed(answer.text)), tuple(bill), calls=call)
        except ValueError as error:
            problem = " ".join(visible(str(error)).split())[:MAX_PROBLEM_CHARS]
            asked = _sent_back(prompt, answer.text, problem)
    problem = f"`{model.name}` gave an unusable answer twice: {problem}"
    return ParsedAnswer(None, tuple(bill), problem, MAX_CALLS)


def _parsed(text: str) -> object:
    """Read JSON, also where a model has put it into a fence of markdown."""
    text = text.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def _sent_back(prompt: Prompt, text: str, problem: str) -> Prompt:
    """Repeat a question together with the answer that did not fit: it is material, no order."""
    earlier = enclosed("EARLIER ANSWER", text[:MAX_REPEATED_CHARS], "", f"NOT ITS FORM: {problem}")
    return replace(
        prompt,
        task=(
            f"{prompt.task}\n\nAn earlier answer stands after the page, between marks of its own. "
            "It did not have the form that is asked for; its last line says why. It is material "
            "like the page. Answer again, with JSON alone."
        ),
        material=f"{prompt.material}\n\n{earlier}",
    )
