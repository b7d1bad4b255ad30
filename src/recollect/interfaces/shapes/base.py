"""A memory as the table of fields has it, and the setting that keeps a shape open."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from recollect.core.fields import SHOWN
from recollect.core.forms import CHOICES

OPEN = ConfigDict(extra="allow")


_TYPES = {"real": float, "count": int, "labels": list[str]}


if TYPE_CHECKING:
    MemoryShape: TypeAlias = dict[str, Any]
else:  # the fields an agent may rely on, as the table of fields has them
    MemoryShape = with_config(OPEN)(
        TypedDict(
            "MemoryShape",
            {
                field.name: kind if field.promised else NotRequired[kind]
                for field in SHOWN
                if field.promised is not None
                for kind in [_TYPES.get(field.form, str)]
            },
        )
    )
    MemoryShape.__doc__ = "A memory. Empty fields are left out; times are ISO 8601 in UTC."


_WHOLE: dict[str, Any] = {
    "real": float,
    "count": int,
    "flag": bool,
    "labels": list[str],
    "moment": datetime,
    "payload": dict[str, Any],
    "object": dict[str, Any],
    "work_unit": dict[str, Any],
    "span": dict[str, Any],
}


_COUNTED = ("revision",)  # from 1


_NEVER_EMPTY = ("text", "choice", "moment", "real")


if TYPE_CHECKING:
    WholeMemory: TypeAlias = dict[str, Any]
else:  # every field that is shown, for the HTTP API and its typed client
    WholeMemory = with_config(OPEN)(
        TypedDict(
            "WholeMemory",
            {
                **{
                    field.name: kind
                    if (field.form in _NEVER_EMPTY and not field.optional) or field.name in _COUNTED
                    else NotRequired[kind]
                    for field in SHOWN
                    for kind in [
                        Literal[tuple(str(one) for one in CHOICES[field.choices])]
                        if field.choices
                        else _WHOLE.get(field.form, str)
                    ]
                },
                "confidence_now": NotRequired[float],
            },
        )
    )
    WholeMemory.__doc__ = "A memory with every field. Empty fields are left out; times are ISO 8601 in UTC."
