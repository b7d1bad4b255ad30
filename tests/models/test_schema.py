"""Types as schemas for a model: required, optional, lists, choices, objects; and answers held against them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import pytest

from recollect.models.schema import find_misfit, parameters_of, parse_json


class Point(TypedDict):
    x: int
    label: NotRequired[str]


def plan(
    name: str,
    points: list[Point],
    mode: Literal["fast", "slow"] = "fast",
    limit: int | None = None,
    share: float = 0.5,
    loud: bool = False,
) -> None: ...


def test_parameters_become_a_schema_in_which_what_has_a_default_is_optional() -> None:
    schema = parameters_of(plan)
    assert schema["type"] == "object"
    assert schema["required"] == ["name", "points"]
    assert schema["properties"] == {
        "name": {"type": "string"},
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
                "required": ["x"],
            },
        },
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "limit": {"type": "integer"},
        "share": {"type": "number"},
        "loud": {"type": "boolean"},
    }


def test_a_type_that_no_schema_tells_is_an_error_and_not_a_guess() -> None:
    def odd(value: complex) -> None: ...

    with pytest.raises(TypeError, match="no schema for"):
        parameters_of(odd)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"name": "a", "points": []}, ""),
        ({"name": "a", "points": [{"x": 1}], "mode": "slow", "loud": True}, ""),
        ({"points": []}, "name"),
        ({"name": 3, "points": []}, "name"),
        ({"name": "a", "points": {}}, "points"),
        ({"name": "a", "points": [{"label": "b"}]}, "x"),
        ({"name": "a", "points": [{"x": "1"}]}, "x"),
        ({"name": "a", "points": [], "mode": "soon"}, "mode"),
        ({"name": "a", "points": [], "loud": 1}, "loud"),
        (["name"], "the answer"),
    ],
)
def test_an_answer_that_does_not_fit_is_told_where(value: Any, where: str) -> None:
    misfit = find_misfit(value, parameters_of(plan))
    assert (where in misfit) if where else misfit == ""


@pytest.mark.parametrize("text", ['{"a": [1, 2]}', '```json\n{"a": [1, 2]}\n```', 'Here you are: {"a": [1, 2]}'])
def test_json_is_found_in_what_a_model_says_around_it(text: str) -> None:
    assert parse_json(text) == {"a": [1, 2]}
