"""The tool that asks whether the tests notice: what it changes, what it draws, which tests it runs, how it counts."""

from __future__ import annotations

import ast
from pathlib import Path

import mutate
import mutate_copy
import pytest
from mutate import Result, mirrored, stages, tabulate, try_mutant
from mutate_ast import Mutant, draw, functions_of, mutants_of
from mutate_copy import Map, Outcome

SOURCE = '''\
def story(path: str, *, limit: int = 3, loud: bool = False) -> list[str]:
    """Not 1 word of this is touched."""
    found: list[int] = []
    if limit < 1 and not loud:
        return [f"none of {limit + 1}"]
    for name in path.split("/", limit):
        if name == "x":
            found.append(name)
        else:
            note(name, found, deep=True)
    return found
'''


def changes(source: str) -> dict[str, set[tuple[str, str]]]:
    (function,) = functions_of("src/recollect/core/a.py", source)
    made: dict[str, set[tuple[str, str]]] = {}
    for mutant in mutants_of(function, source):
        ast.parse(mutant.text)
        assert mutant.text != source
        made.setdefault(mutant.kind, set()).add((mutant.before, mutant.after))
    return made


def test_every_kind_of_defect_is_made_and_nothing_else_is_touched() -> None:
    assert changes(SOURCE) == {
        "changed default": {("3", "4"), ("False", "True")},
        "flipped comparison": {("limit < 1", "limit >= 1"), ('name == "x"', "name != 'x'")},
        "moved boundary": {("limit < 1", "limit <= 1")},
        "and/or": {("limit < 1 and not loud", "((limit < 1) or (not loud))")},
        "dropped not": {("not loud", "loud")},
        "±1": {("1", "2"), ("1", "0")},
        "negated if": {
            ("limit < 1 and not loud", "not (limit < 1 and (not loud))"),
            ('name == "x"', "not (name == 'x')"),
        },
        "emptied branch": {
            ('return [f"none of {limit + 1}"]', "pass"),
            ("found.append(name)", "pass"),
            ("note(name, found, deep=True)", "pass"),
        },
        "other return": {('[f"none of {limit + 1}"]', "[]"), ("found", "[]")},
        "swapped arguments": {
            ('path.split("/", limit)', "path.split(limit, '/')"),
            ("note(name, found, deep=True)", "note(found, name, deep=True)"),
        },
        "dropped keyword": {("note(name, found, deep=True)", "note(name, found)")},
        "dropped call": {("found.append(name)", "pass"), ("note(name, found, deep=True)", "pass")},
    }


def test_a_defect_lands_in_the_right_place_of_a_line_with_other_letters() -> None:
    source = 'def f(x: int) -> bool:\n    return "déjà vu →" in NAMES or x < 3\n'
    made = {after for _, after in changes(source)["moved boundary"]}
    assert made == {"x <= 3"}
    (function,) = functions_of("src/recollect/core/a.py", source)
    texts = [mutant.text for mutant in mutants_of(function, source) if mutant.kind == "moved boundary"]
    assert texts == [source.replace("x < 3", "x <= 3")]


def test_functions_inside_others_and_methods_are_drawn_by_their_own_name() -> None:
    source = "class A:\n    def b(self):\n        def c():\n            return 1\n        return c() + 2\n"
    names = {function.name: function for function in functions_of("src/recollect/app.py", source)}
    assert list(names) == ["A.b", "A.b.c"]
    assert {mutant.line for mutant in mutants_of(names["A.b"], source)} == {5}
    assert names["A.b"].package == "app"


def drawing(seed: int, n: int = 10) -> list[Mutant]:
    body = "".join(f"def f{number}(x):\n    return x + {number}\n\n" for number in range(1, 40))
    texts = {f"src/recollect/{package}/m.py": body for package in ("core", "store")}
    texts["src/recollect/tend/m.py"] = body[: body.index("def f9(")]
    functions = [function for path, text in texts.items() for function in functions_of(path, text)]
    return draw(functions, texts, n=n, seed=seed)


def test_a_drawing_is_one_a_function_spread_over_packages_and_the_same_for_a_seed() -> None:
    first = drawing(1)
    assert first == drawing(1)
    assert {mutant.name for mutant in first} != {mutant.name for mutant in drawing(2)}
    assert len({(mutant.path, mutant.function) for mutant in first}) == len(first) == 10
    assert {mutant.path.split("/")[2] for mutant in first} == {"core", "store", "tend"}


# --- the tests of a mutant ------------------------------------------------------------------------------------------


@pytest.fixture
def known(tmp_path: Path) -> Map:
    made = Map(tmp_path / "map.db")
    text = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
    digest = mutate_copy._digest(text)
    with made._db as db:
        db.execute("insert into sources values (?, ?)", (digest, text))
        for name, seconds, lines in (
            ("slow", 2.0, [2]),
            ("fast", 0.1, [2, 6]),
            ("other", 0.2, [6]),
            ("endless", 99, [2]),
        ):
            test = f"tests/core/test_a.py::test_{name}"
            db.execute("insert into tests values (?, 'tests/core/test_a.py', ?, 'passed')", (test, seconds))
            row = (test, "src/recollect/core/a.py", digest, mutate_copy._bitmap(lines))
            db.execute("insert into lines values (?, ?, ?, ?)", row)
    return made


def mutant_of(text: str, kind: str) -> Mutant:
    function = functions_of("src/recollect/core/a.py", text)[0]
    return next(mutant for mutant in mutants_of(function, text) if mutant.kind == kind)


def test_the_tests_that_ran_the_line_run_fastest_first_wherever_the_line_stands_now(known: Map) -> None:
    moved = '"""New words above."""\n\n\ndef f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n'
    found = stages(mutant_of(moved, "±1"), moved, known)
    assert found == [(["tests/core/test_a.py::test_fast", "tests/core/test_a.py::test_slow"], 1)]


class OneFailure:
    """A copy in which a test fails exactly while the mutant is in."""

    def __init__(self, *, notices: bool, hangs: bool = False) -> None:
        self.texts: list[str] = []
        self._outcome = Outcome(1 if notices else 0, hangs, {"t::x": {"outcome": "failed"}} if notices else {}, "")

    def write(self, path: str, text: str) -> None:
        self.texts.append(text)

    def run(self, *given: object, **more: object) -> Outcome:
        return self._outcome


@pytest.mark.parametrize(
    ("notices", "hangs", "verdict"), [(True, False, "noticed"), (True, True, "timeout"), (False, False, "survived")]
)
def test_a_mutant_is_noticed_by_a_failure_or_a_timeout_and_taken_out_again(
    known: Map, notices: bool, hangs: bool, verdict: str
) -> None:
    text = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
    mutant, copy = mutant_of(text, "±1"), OneFailure(notices=notices, hangs=hangs)
    result = try_mutant(mutant, text, copy, known)  # type: ignore[arg-type]
    assert (result.verdict, result.tests, result.left_out) == (verdict, 2, 1)
    assert copy.texts == [mutant.text, text]


def test_mirrored_tests_carry_the_name_of_the_module() -> None:
    assert mirrored("src/recollect/privacy/fence.py") == ["tests/privacy/test_fence.py"]
    assert "tests/interfaces/test_hook_odds.py" in mirrored("src/recollect/interfaces/hook.py")


def test_what_a_person_judged_harmless_is_not_counted_against_the_tests() -> None:
    def result(verdict: str, package: str = "core") -> Result:
        return Result("name", package, "±1", 1, verdict, "", 1, 0, 0.1)

    page = tabulate(
        [result("noticed"), result("timeout"), result("survived"), result("tuning", "store"), result("equivalent")],
        title="t",
        command="c",
    )
    assert "| **all** | 5 | 3 | 2 | 67 % |" in page
    assert "| store | 1 | 0 | 0 | – |" in page
    assert "## Survived (1)" in page


def test_a_judgement_is_filed_under_the_change_and_not_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survived = Result("a.py::f [±1] 1 → 2", "core", "±1", 7, "survived", "", 1, 0, 0.1)
    filed = tmp_path / "judged.json"
    filed.write_text('{"a.py::f [±1] 1 → 2": {"verdict": "tuning", "by": "a cache size"}}', encoding="utf-8")
    monkeypatch.setattr(mutate, "JUDGED", filed)
    (judged,) = mutate.judge([survived])
    assert (judged.verdict, judged.by) == ("tuning", "a cache size")
