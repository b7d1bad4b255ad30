from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.agent.hosts import jsonc

OURS = {"hooks": [{"type": "command", "command": "/x/recollect-hook"}]}
PEOPLES = [
    "{}",
    '{"a": 1}',
    '{"a": 1,}',
    '{\n  "a": 1\n}\n',
    '{\n\t"a": 1 // why\n}',
    '{\n  "a": 1, // why\n}',
    "{\n  // nothing yet\n}\n",
    '{"hooks": {"X": []}}',
    '{\n    "hooks": {\n        "X": [\n            {"a": 2}\n        ]\n    }\n}\n',
    '{\r\n  "a": [],\r\n  "b": 2\r\n}\r\n',
    '{"a":{"b":1\n}}',
    '{\n  "a": 1 /* over\n two lines */\n}',
    '{\n  "url": "http://x//y" }',
    '\ufeff{\n  "a": 1\n}\n',
]


@pytest.mark.parametrize("text", PEOPLES)
def test_what_was_put_in_comes_out_and_leaves_the_text_as_it_was(text: str) -> None:
    there = jsonc.find(jsonc.parse(text), ("hooks", "X")) is not None
    put = jsonc.put_member(jsonc.put_item(text, ("hooks", "X"), OURS), ("mcp", "recollect"), {"c": 1})
    value = jsonc.parse(put).value
    assert value["hooks"]["X"][-1] == OURS
    assert value["mcp"]["recollect"] == {"c": 1}
    bare = jsonc.take_member(jsonc.take_items(put, ("hooks", "X"), lambda item: item == OURS), ("mcp",))
    assert (bare if there else jsonc.take_member(bare, ("hooks",))) == text


@pytest.mark.parametrize("text", PEOPLES)
def test_every_comment_of_others_stays(text: str) -> None:
    put = jsonc.put_member(text, ("mcp", "recollect"), {"c": 1})
    comments = re.findall(r"//[^\n\"]*$|/\*.*?\*/", text, re.DOTALL | re.MULTILINE)
    assert all(comment in put for comment in comments)


def test_a_comment_does_not_swallow_what_follows_a_removed_entry() -> None:
    assert jsonc.take_member('{\n  "a": 1, // why\n  "b": 2 }', ("b",)) == '{\n  "a": 1 // why\n }'


def test_new_parts_are_laid_out_like_the_rest_of_the_file() -> None:
    put = jsonc.put_member('{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n', ("a", "c"), {"d": [1]})
    assert put == '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}\n'


def test_a_member_that_is_there_is_replaced_where_it_stands() -> None:
    assert jsonc.put_member('{"a": 1, "b": 2}', ("a",), [3]) == '{"a": [\n  3\n], "b": 2}'


def test_of_two_members_with_one_name_the_last_counts_as_it_does_for_hosts() -> None:
    assert jsonc.parse(jsonc.put_member('{"a": 1, "a": 2}', ("a",), 3)).value == {"a": 3}
    assert jsonc.take_member('{"a": 1, "a": 2}', ("a",)) == "{}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1', "line 1"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ("{'a': 1}", "double quotes"),
        ('{"a": nope}', "a value was expected"),
        ('{"a": 1} x', "follows the end"),
        ("/* open", "does not end"),
        ('{"a" 1}', "':' was expected"),
        ("[" * 300 + "]" * 300, "levels deep"),
        ("[1, 2]", "not an object"),
    ],
)
def test_a_broken_text_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(jsonc.BrokenJson, match=told):
        jsonc.put_member(text, ("mcp", "recollect"), 1)


def test_a_value_of_another_shape_on_the_way_is_refused() -> None:
    with pytest.raises(jsonc.BrokenJson, match="hooks is not an object"):
        jsonc.put_member('{"hooks": []}', ("hooks", "X"), 1)
    with pytest.raises(jsonc.BrokenJson, match="not an array"):
        jsonc.put_item('{"hooks": {"X": {}}}', ("hooks", "X"), 1)


_KEYS = st.text(alphabet='abc"\\/é', max_size=3)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet='x"/\\*{}[],', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4), st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_any_document_survives_the_way_in_and_out(
    document: dict[str, object], indent: int | str | None, end: bool
) -> None:
    text = json.dumps(document, indent=indent) + ("\n" if end else "")
    put = jsonc.put_member(text, ("our own", "recollect"), {"c": [1, {}]})
    assert jsonc.parse(put).value == {**document, "our own": {"recollect": {"c": [1, {}]}}}
    assert jsonc.take_member(put, ("our own",)) == text


@given(st.text(alphabet='{}[]",:/*\n\r\t 1a\\', max_size=40))
def test_no_text_does_worse_than_being_called_broken(text: str) -> None:
    try:
        value = jsonc.parse(text).value
    except jsonc.BrokenJson:
        return
    if isinstance(value, dict):
        assert jsonc.parse(jsonc.put_member(text, ("zz",), 1)).value == {**value, "zz": 1}
