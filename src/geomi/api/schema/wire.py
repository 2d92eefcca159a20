"""The base of all wire shapes: names, strictness, times, ids and lists in parts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

MAX_LIMIT = 100  # G-17
MAX_CURSOR_CHARS = 512
MAX_URL_CHARS = 2048

PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
ULID = r"^[0-9A-HJKMNP-TV-Z]{26}$"


def _whole(value: object) -> object:
    """Refuse what only looks like a number; in JSON 3.0 is a whole one."""
    if isinstance(value, bool | str):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


def _moment(value: object) -> object:
    """Refuse what is no time as RFC 3339 writes it, such as a number of seconds."""
    if not isinstance(value, str) or not _RFC_3339.fullmatch(value):
        raise PydanticCustomError(
            "datetime_type", "Input should be a time in the format of RFC 3339"
        )
    return value


_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)

Flag = StrictBool
WHOLE = BeforeValidator(_whole)  # stands last: before it are the bounds that the document tells
Number = StrictFloat  # a whole number is one, too
Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]

Name = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="Letters, digits, `.`, `_` and `-`, at most 100.",
    ),
]
TenantName = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9-]{0,62}$",
        description="Lower-case letters, digits and hyphens, at most 63.",
    ),
]
HttpUrl = Annotated[str, Field(max_length=MAX_URL_CHARS, pattern=r"^https?://[^\x00-\x20\x7f]+$")]
Title = Annotated[str, Field(max_length=200, pattern=PRINTABLE)]
Line = Annotated[str, Field(max_length=2000, pattern=PRINTABLE)]
Pattern = Annotated[str, Field(min_length=1, max_length=1000, pattern=PRINTABLE)]


class WireModel(BaseModel):
    """A part of a request or an answer whose fields are named as they are here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def from_fields(cls, value: object, **others: object) -> Self:
        """Take each field from the value's own of the same name, but for those that are given."""
        names = cls.model_fields.keys() - others.keys()
        return cls.model_validate({name: getattr(value, name) for name in names} | others)


class RequestModel(WireModel):
    """A part of a request."""

    model_config = ConfigDict(alias_generator=to_camel)


class ResponseModel(WireModel):
    """A part of an answer."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class ListQuery(RequestModel):
    """The part of a list to return."""

    limit: Annotated[
        int, Field(ge=1, le=MAX_LIMIT, description="The most items in the answer.")
    ] = 20
    cursor: Annotated[
        str | None,
        Field(
            max_length=MAX_CURSOR_CHARS,
            pattern=r"^[A-Za-z0-9_-]+$",
            description="`nextCursor` of the previous part.",
        ),
    ] = None


def moment(at_s: float) -> datetime:
    """Write a time of the wall clock as the wire has it."""
    return datetime.fromtimestamp(at_s, UTC)


def moment_or_none(at_s: float | None) -> datetime | None:
    """Write a time that there may be."""
    return None if at_s is None else moment(at_s)
