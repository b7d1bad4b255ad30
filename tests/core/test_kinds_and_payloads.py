from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.core.decay import HalfLife
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.kinds import Kind, KindRule, Kinds
from recollect.core.payloads import DeadEnd, Recipe, Step, parse_payload, payload_json

GOOD: dict[str, dict[str, Any]] = {
    "recipe": {
        "task_pattern": "add a handler", "steps": ["write it", {"description": "test it", "file": "t.py", "line": 3}],
    },
    "dead_end": {"tried": "a lock file", "why_it_failed": "NFS"},
    "prefetch": {"module_trigger": "auth", "always": ["a.py"], "session_count": 9},
    "calibration": {
        "module": "auth", "average_actual_steps": 9, "average_planned_steps": 6, "ratio": 1.5, "samples": 4,
    },
    "work_state": {"completed": ["parser"], "next_step": "printer"},
}  # fmt: skip


def test_all_twenty_kinds_of_the_design_ship() -> None:
    assert {str(rule.name) for rule in Kinds()} == {str(kind) for kind in Kind}
    assert len(list(Kind)) == 20


def test_kinds_fade_at_the_pace_of_the_design() -> None:
    curves = {str(rule.name): str(rule.decay) for rule in Kinds()}
    days = {name: float(curve.partition(":")[2]) for name, curve in curves.items() if curve.startswith("half-life")}
    assert {name: half for name, half in days.items() if half != 90} == {
        "gotcha": 60, "error_pattern": 60, "work_state": 7, "causal_dependency": 120, "task_calibration": 180,
        "e2e_observation": 30, "workflow_recipe": 120,
    }  # fmt: skip
    assert {name: curve for name, curve in curves.items() if name not in days} == {
        "decision": "never", "episode": "never", "reflection": "never", "fact": "exponential:0.1",
        "passage": "hourly:0.995:0.1",
    }  # fmt: skip


def test_the_old_name_of_a_recipe_is_understood() -> None:
    assert Kinds().rule("workflow").name == Kind.WORKFLOW_RECIPE


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownChoice) as caught:
        Kinds().rule("gotchas")
    assert "gotcha" in caught.value.hint


def test_a_plugin_may_add_a_kind_but_not_redefine_one() -> None:
    assert Kinds([KindRule("ritual", "mem", HalfLife(5))]).rule("ritual").decay == HalfLife(5)
    with pytest.raises(InvalidField, match="gotcha"):
        Kinds([KindRule("gotcha", "mem", HalfLife(5))])


@pytest.mark.parametrize("name", GOOD)
def test_a_payload_survives_json(name: str) -> None:
    payload = parse_payload(name, GOOD[name])
    assert parse_payload(name, json.loads(json.dumps(payload_json(payload)))) == payload


def test_steps_may_be_plain_texts() -> None:
    recipe = parse_payload("recipe", GOOD["recipe"])
    assert isinstance(recipe, Recipe)
    assert recipe.steps == (Step("write it"), Step("test it", "t.py", 3))


@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        ("recipe", {"steps": []}, "payload.steps"),
        ("recipe", {"steps": "one"}, "payload.steps"),
        ("recipe", {"steps": [{"file": "x"}]}, r"payload.steps\[0\]"),
        ("recipe", {"success_count": -1}, "payload.success_count"),
        ("dead_end", {"tried": 3}, "payload.tried"),
        ("dead_end", {"colour": "red"}, "payload.colour"),
        ("prefetch", {"always": [], "frequently": []}, "payload.always"),
        ("calibration", {"ratio": float("nan")}, "payload.ratio"),
        ("calibration", {"samples": True}, "payload.samples"),
        ("work_state", {"completed": [1]}, r"payload.completed\[0\]"),
        ("dead_end", {"tried": "a\0b"}, "payload.tried"),
    ],
)
def test_a_bad_payload_names_the_field(name: str, change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidField, match=field):
        parse_payload(name, {**GOOD[name], **change})


@pytest.mark.parametrize(("name", "missing"), [("recipe", "steps"), ("dead_end", "tried"), ("calibration", "ratio")])
def test_a_missing_field_is_named(name: str, missing: str) -> None:
    given = {key: value for key, value in GOOD[name].items() if key != missing}
    with pytest.raises(InvalidField, match=f"payload.{missing}"):
        parse_payload(name, given)


def test_a_payload_must_be_an_object() -> None:
    with pytest.raises(InvalidField, match="payload"):
        parse_payload("dead_end", ["tried"])


def test_a_payload_value_is_taken_as_it_is() -> None:
    dead_end = DeadEnd("a", "b")
    assert parse_payload("dead_end", dead_end) is dead_end
