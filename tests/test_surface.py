"""The surface of every module, as approved: what each callable takes if nobody says otherwise, and what errors say.

A default is a promise to all who leave it out, and no line of code runs it. `RECOLLECT_APPROVE=1` accepts a change.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import recollect
from approval import approve
from recollect.core.errors import RecollectError
from surface import defaults_in

_ELSEWHERE = ("recollect.adapters.", "recollect.testing.")  # the first need packages and have a table of their own
MODULES = [
    module.name
    for module in pkgutil.walk_packages(recollect.__path__, "recollect.")
    if not module.name.startswith(_ELSEWHERE) and not module.name.endswith("__main__")
]


def test_what_a_caller_leaves_out_means_what_was_approved() -> None:
    found = defaults_in(MODULES)
    assert sum(map(len, found.values())) > 200
    approve("surface-defaults", found)


# --- errors -----------------------------------------------------------------------------------------------------------


def errors(kind: type[RecollectError] = RecollectError) -> Iterator[type[RecollectError]]:
    for below in kind.__subclasses__():
        if below.__module__.startswith("recollect."):
            yield below
            yield from errors(below)


def samples(kind: type[RecollectError]) -> Iterator[RecollectError]:
    """The error with every value given, and with only those that it needs."""
    given = {"bool": True, "int": 4321, "float": 2.6, "str": "", "str | None": "noon"}
    given |= {"Iterable[str]": ["b", "a", "d", "c"]}
    if "error" in inspect.signature(kind).parameters:
        yield kind(FileNotFoundError(2, "No such file", "a.txt"))  # type: ignore[call-arg,arg-type]
        yield kind(OSError())  # type: ignore[call-arg,arg-type]
        return
    parameters = list(inspect.signature(kind).parameters.values())
    for wanted in (parameters, [one for one in parameters if one.default is one.empty]):
        values = {one.name: given[str(one.annotation)] or f"«{one.name}»" for one in wanted}
        positional = [value for one, value in zip(wanted, values.values(), strict=True) if one.kind != one.KEYWORD_ONLY]
        named = {one.name: values[one.name] for one in wanted if one.kind == one.KEYWORD_ONLY}
        yield kind(*positional, **named)  # type: ignore[arg-type]


def test_every_error_says_what_happened_and_what_to_do_in_the_approved_words() -> None:
    for name in MODULES:
        importlib.import_module(name)
    table = {
        kind.__name__: [kind.code, *[[str(one), one.hint] for one in samples(kind)]]
        for kind in sorted(set(errors()), key=lambda kind: kind.__name__)
    }
    assert len(table) > 50
    approve("surface-errors", table)


@pytest.mark.parametrize(("length", "said"), [(999, 999), (1000, 1000), (1001, 1002)])
def test_a_message_is_cut_after_a_thousand_characters_and_says_so(length: int, said: int) -> None:
    told = str(RecollectError("x" * length))
    assert len(told) == said
    assert told.endswith("…") == (length > 1000)
