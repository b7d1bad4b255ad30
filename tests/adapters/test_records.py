"""Keyed records over the public verbs, and blocks that keep their place."""

from __future__ import annotations

import pytest

from recollect.adapters.bridge import Blocks
from recollect.adapters.records import RecordStore
from recollect.app import Recollect
from recollect.privacy.scan import scan


def test_two_records_that_say_the_same_stay_two(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    records.put(("a", "1"), {"n": 1}, text="likes tea")
    records.put(("b", "1"), {"n": 2}, text="likes tea")
    assert [one.value["n"] for one in records.under()] == [1, 2]
    assert records.get(("a", "1")).value == {"n": 1}  # type: ignore[union-attr]


def test_a_record_put_again_replaces_itself_and_may_go_back(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    for text in ("on", "off", "on"):
        records.put(("switch",), {"is": text}, text=f"the switch is {text}")
    assert [one.value for one in records.under()] == [{"is": "on"}]


def test_a_dropped_record_is_gone_and_may_come_back(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    records.put(("k",), {"v": 1}, text="a thing")
    assert records.drop(("k",))
    assert records.get(("k",)) is None
    assert not records.drop(("k",))
    records.put(("k",), {"v": 2}, text="a thing")
    assert records.get(("k",)).value == {"v": 2}  # type: ignore[union-attr]


def test_keys_differ_by_case_and_by_where_they_are_cut(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    keys = [("a", "b"), ("A", "b"), ("ab",), ("a/b",), ("a", "b", "")]
    for number, key in enumerate(keys):
        records.put(key, {"n": number})
    assert [records.get(key).value["n"] for key in keys] == [0, 1, 2, 3, 4]  # type: ignore[union-attr]


def test_opposite_records_do_not_supersede_each_other(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    records.put(("alice",), {}, text="The deployment uses port 8080")
    records.put(("bob",), {}, text="The deployment uses port 9090")
    assert len(list(records.under())) == 2


def test_a_record_is_recalled_by_its_words_within_its_mark(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    records.put(("1",), {"n": 1}, text="the espresso machine needs descaling", marks=[("user", "alice")])
    records.put(("2",), {"n": 2}, text="the espresso machine is new", marks=[("user", "bob")])
    assert [one.value["n"] for one, _ in records.search("espresso machine", k=5, mark=("user", "alice"))] == [1]


def test_what_cannot_be_stored_is_made_visible_and_nothing_else_is_touched(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    records.put(("k",), {"v": "a\0b\ud800c é\r\n  \u200b "}, text="a\0b")
    assert records.get(("k",)).value == {"v": "a\u2400b\ufffdc é\r\n  \u200b "}  # type: ignore[union-attr]


def test_a_hidden_record_is_never_recalled(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    records.put(("k",), {}, text="the hidden lighthouse", shown=False)
    assert not memory.recall("hidden lighthouse").hits
    assert records.get(("k",)) is not None


def test_more_records_than_a_page_are_all_read(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    memory.remember_all([records.draft((str(n),), {"n": n}, text=f"record {n}") for n in range(1_203)])
    assert sorted(one.value["n"] for one in records.under()) == list(range(1_203))


@pytest.mark.parametrize("name", ["openai-agents", "anthropic-memory", "langgraph", "google-adk", "mem0", "t"])
def test_no_mark_is_ever_taken_for_a_secret(memory: Recollect, name: str) -> None:
    records = RecordStore(memory, name)
    marks = {records.mark("key", str(number)) for number in range(2_000)}
    assert len(marks) == 2_000
    assert not [mark for mark in marks if scan(f"{name} {mark}") or scan(mark)]


def weave(blocks: Blocks, items: list[str]) -> list[str]:
    return blocks.weave(items, items, lambda text: f"<{text}>")


def test_a_block_keeps_its_place_when_the_conversation_grows() -> None:
    blocks = Blocks()
    blocks.put(["u"], "one")
    first = weave(blocks, ["u"])
    blocks.put(["u", "call", "result"], "two")
    second = weave(blocks, ["u", "call", "result"])
    assert first == ["u", "<one>"]
    assert second == ["u", "<one>", "call", "result", "<two>"]
    assert second[: len(first)] == first


def test_blocks_in_a_rewritten_past_are_let_go() -> None:
    blocks = Blocks()
    blocks.put(["u"], "one")
    blocks.put(["u", "a", "v"], "two")
    assert weave(blocks, ["summary", "a", "v"]) == ["summary", "a", "v", "<two>"]
    assert weave(blocks, ["summary"]) == ["summary"]


@pytest.mark.parametrize("items", [[], ["u"]])
def test_the_same_moment_is_new_only_once(items: list[str]) -> None:
    blocks = Blocks()
    assert blocks.is_new(items)
    assert not blocks.is_new(items)
    assert blocks.is_new([*items, "more"])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_all_records_are_found_however_many_pages_they_fill(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr("recollect.adapters.records._PAGE", 2)
    records = RecordStore(memory, "t")
    for number in range(count):
        records.put((str(number),), {"n": number}, text=f"thing number {number}")
    assert [one.value["n"] for one in records.under()] == list(range(count))


def test_a_mark_is_the_same_word_in_every_release(memory: Recollect) -> None:
    records = RecordStore(memory, "t")
    marks = [records.mark("user", "ada"), records.mark("user", "bob"), records.mark()]
    assert marks == ["vajat-minaj-kabiv-kijur", "vodol-jonaz-zihuz-tibop", "t record"], (
        "what was stored under other words would not be found again"
    )
