"""Read what a browser sends: form fields, choices and paths, each within its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from geomi.errors import FieldRefused

MAX_FIELDS = 100
MAX_PATH_CHARS = 2000

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class SubmittedForm:
    """The fields of a form that was sent; a field may be there several times."""

    fields: Mapping[str, tuple[str, ...]]

    def text(self, name: str, otherwise: str = "") -> str:
        """Return a field without the space around it; a line break in it is one character."""
        told = self.fields.get(name)
        return told[0].strip().replace("\r\n", "\n") if told else otherwise

    def is_set(self, name: str) -> bool:
        """Return whether a box was ticked."""
        return name in self.fields

    def every(self, name: str) -> tuple[str, ...]:
        """Return each value of a field."""
        return self.fields.get(name, ())

    def lines(self, name: str) -> tuple[str, ...]:
        """Return the lines of a field that have something in them."""
        return tuple(line.strip() for line in self.text(name).splitlines() if line.strip())

    def whole(self, name: str) -> int:
        """Return a field that has to be a whole number."""
        return int(self._number(name, r"-?\d{1,18}"))

    def number(self, name: str) -> float:
        """Return a field that has to be a number."""
        return float(self._number(name, r"-?\d{1,18}(\.\d{1,9})?"))

    def _number(self, name: str, shape: str) -> str:
        text = self.text(name).replace(",", "")
        if not re.fullmatch(shape, text):
            raise FieldRefused(f"`{text[:40]}` is not a number", field=name)
        return text


NO_FORM = SubmittedForm({})


async def read_form(request: Request) -> SubmittedForm:
    """Read a form; its size was limited before."""
    try:
        pairs = parse_qsl(
            (await request.body()).decode(),
            keep_blank_values=True,
            strict_parsing=False,
            max_num_fields=MAX_FIELDS,
        )
    except ValueError as error:
        raise FieldRefused("the form cannot be read", field="form") from error
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        fields[name] = (*fields.get(name, ()), value)
    return SubmittedForm(fields)


def choice(kind: type[E], text: str | None) -> E | None:
    """Return one of some values; None for anything else, as links grow old."""
    return next((one for one in kind if one.value == text), None)


def own_path(text: str | None) -> str:
    """Return a path of this server to go to, whatever somebody wrote into a link."""
    is_own = text is not None and re.fullmatch(r"/(?![/\\])[\x21-\x7e]*", text)
    return text if text and is_own and "\\" not in text and len(text) <= MAX_PATH_CHARS else "/"
