"""Chunks, secrets, anchors, recall with the graph, history, the map, SCIP, the semantic layer, the commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.app import Recollect
from recollect.code.cochange import MAX_COMMIT_FILES, History, blend, measure_churn, measure_cochange
from recollect.code.modules import assign_layers
from recollect.code.outline import split_chunks
from recollect.code.parse import parse, read_use_tree
from recollect.core.errors import BadScip, NoModel
from recollect.files.git import Change, Commit, follow_renames
from recollect.interfaces.cli import main
from recollect.store.check import check
from recollect.store.rebuild import rebuild
from recollect.testing.fakes import ScriptedModel

Tree = Callable[[dict[str, str]], Path]
SHOP = {
    "shop/cart.py": "from shop.tax import rate\n\ndef total(items):\n    return sum(items) * rate()\n",
    "shop/tax.py": "def rate():\n    return 1.2\n\ndef other():\n    return 'unrelated'\n",
    "shop/view.py": "from shop.cart import total\n\ndef show():\n    return total([1])\n",
}


# --- chunks --------------------------------------------------------------------------------------------------------


def test_every_line_is_in_exactly_one_chunk_and_no_function_is_cut() -> None:
    methods = "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(40))
    first = "@wrap\ndef first():\n    def inner():\n        return 1\n    return inner\n"
    source = f"import os\n\nX = 1\n\n{first}\nclass Big:\n    y = 2\n{methods}\nprint(X)\n"
    chunks = split_chunks(source, parse(source.encode(), "python"))
    lines = [line for chunk in chunks for line in range(chunk.start, chunk.end + 1)]
    assert len(lines) == len(set(lines))
    kept = set(lines)
    assert all(not text.strip() for number, text in enumerate(source.split("\n"), 1) if number not in kept)
    by_name = {chunk.name: chunk for chunk in chunks}
    assert by_name["first"].text.startswith("@wrap\ndef first")
    assert by_name["first"].text.endswith("return inner")
    assert by_name["Big.m7"].type == "function"
    assert by_name["Big"].type == "class"


def test_text_without_symbols_is_cut_every_hundred_lines() -> None:
    source = "\n".join(f"x{n} = {n}" for n in range(250))
    chunks = split_chunks(source, parse(source.encode(), "python"))
    assert [(chunk.type, chunk.start, chunk.end) for chunk in chunks] == [
        ("module", 1, 100),
        ("module", 101, 200),
        ("module", 201, 250),
    ]


@given(st.text(alphabet="def class():\n xy={}[]\"'#,", max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_is_chunked_without_loss(source: str) -> None:
    chunks = split_chunks(source, parse(source.encode(), "python"))
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(source.split())


def test_a_secret_in_source_code_is_redacted_in_its_passage(indexed: Recollect, tree: Tree) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"[:36]
    indexed.code.index(tree({"conf.py": f"def token():\n    return '{token}'\n", **SHOP}))
    (hit,) = [one for one in indexed.code.search("token") if one.memory.files == ("conf.py",)]
    assert token not in hit.memory.content
    assert "[secret:" in hit.memory.content
    assert not indexed.store.engine.contains_bytes(token)


def test_unchanged_passages_keep_their_rows_when_lines_move(indexed: Recollect, tree: Tree) -> None:
    root = tree(SHOP)
    indexed.code.index(root)
    before = {hit.memory.node: hit.id for hit in indexed.code.search("rate unrelated", k=20)}
    tree({"shop/tax.py": "# a new first line\n\n" + SHOP["shop/tax.py"]})
    indexed.code.index(root)
    after = {hit.memory.node: hit for hit in indexed.code.search("rate unrelated", k=20)}
    assert after["shop/tax.py:other"].id == before["shop/tax.py:other"]
    assert after["shop/tax.py:other"].memory.span is not None
    assert after["shop/tax.py:other"].memory.span.start == 6


# --- anchors and recall --------------------------------------------------------------------------------------------


def doubts(memory: Recollect, text: str) -> tuple[str, ...]:
    kinds = recollect.Filter(kinds=frozenset({"gotcha"}))
    (hit,) = memory.recall(text, filter=kinds, track=False).hits
    return tuple(hit.doubts)


def test_a_memory_about_a_symbol_is_valid_moved_or_stale(indexed: Recollect, tree: Tree) -> None:
    root = tree(SHOP)
    indexed.code.index(root)
    kept = indexed.remember("The rate is for Portugal.", kind="gotcha", node="tax.py:rate")
    assert kept.memory.files == ("shop/tax.py",)
    assert doubts(indexed, "Portugal rate") == ()
    tree({"shop/tax.py": "\n\n\ndef rate():\n        return   1.2\n"})
    indexed.code.index(root)
    assert doubts(indexed, "Portugal rate") == ()
    tree({"shop/tax.py": "", "shop/vat.py": "def vat_rate():\n    return 1.2\n"})
    indexed.code.index(root)
    moved = indexed.get(kept.id)
    assert (moved.files, (moved.node or "").partition("@")[0]) == (("shop/vat.py",), "shop/vat.py:vat_rate")
    assert doubts(indexed, "Portugal rate") == ()
    tree({"shop/vat.py": "def vat_rate():\n    return 1.5\n"})
    indexed.code.index(root)
    assert doubts(indexed, "Portugal rate") == ("stale: shop/vat.py:vat_rate was changed since",)
    tree({"shop/vat.py": ""})
    indexed.code.index(root)
    assert doubts(indexed, "Portugal rate") == ("stale: shop/vat.py:vat_rate is gone",)


def test_a_memory_about_a_neighbour_of_the_file_in_play_is_found_without_a_shared_word(
    indexed: Recollect, tree: Tree
) -> None:
    gotcha = indexed.remember("Beware of leap seconds.", kind="gotcha", files=["shop/tax.py"])
    far = indexed.remember("Bananas ripen quickly.", kind="gotcha", files=["elsewhere/fruit.py"])
    question = "zzz qqq"
    assert not indexed.recall(question, files=["shop/cart.py"], track=False).hits
    indexed.code.index(tree(SHOP))
    found = [hit.id for hit in indexed.recall(question, files=["shop/cart.py"], track=False).hits]
    assert gotcha.id in found
    assert far.id not in found


def test_a_store_opened_again_sees_the_graph(tree: Tree, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", project="p") as memory:
        memory.code.index(tree(SHOP), passages=False)
        memory.remember("Beware of leap seconds.", kind="gotcha", files=["shop/tax.py"])
    with recollect.open(tmp_path / "m.db", project="p", read_only=True) as memory:
        assert memory.recall("zzz", files=["shop/cart.py"], track=False).hits
        assert memory.code.impact("tax.py:rate").nodes


def test_a_memory_about_a_file_that_changes_daily_is_sooner_old_news(indexed: Recollect, tree: Tree) -> None:
    indexed.code.index(tree(SHOP), passages=False)
    busy = indexed.remember("Beware of leap seconds.", kind="gotcha", files=["shop/tax.py"])
    calm = indexed.remember("Beware of leap years.", kind="gotcha", files=["shop/cart.py"])
    with indexed.store.engine.write():
        indexed.store.graph.replace_history([], [("shop/tax.py", 90, 1.0, 1.0), ("shop/cart.py", 1, 0.0, 0.0)])
    indexed.reader._clock = lambda: datetime.now(UTC) + timedelta(days=20)
    recency = {hit.id: hit.factors["recency"] for hit in indexed.recall("beware of leap", track=False).hits}
    assert recency[busy.id] < 0.1 < 0.8 < recency[calm.id]


# --- history -------------------------------------------------------------------------------------------------------


def test_files_that_change_together_are_likely_to_do_so_again_and_mega_commits_say_nothing() -> None:
    crowd = [f"f{n}" for n in range(MAX_COMMIT_FILES + 1)]
    pairs = {(a, b): weight for a, b, weight, _ in measure_cochange([["a", "b"], ["a", "b"], ["a", "c"], crowd, ["d"]])}
    assert pairs["a", "b"] > pairs["a", "c"] > 0
    assert not any("f1" in pair for pair in pairs)
    assert all(0 < weight <= 1 for weight in pairs.values())


def test_what_history_says_is_found_under_todays_names() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    commits = [
        Commit("1", at, (Change("old.py", "A"), Change("x.py", "A"))),
        Commit("2", at, (Change("new.py", "R", "old.py"),)),
        Commit("3", at, (Change("x.py", "D"),)),
    ]
    assert [files for _, files in follow_renames(commits)] == [("new.py",), ("new.py",), ()]
    assert measure_churn(follow_renames(commits)) == [
        ("new.py", 2, pytest.approx(2 / 180, abs=1e-4), pytest.approx(2 ** (-1 / 20), abs=1e-4))
    ]


@given(st.dictionaries(st.text(max_size=2), st.floats(0, 1)), st.dictionaries(st.text(max_size=2), st.floats(0, 1)))
def test_the_graph_only_adds_to_what_the_past_says(near: dict[str, float], past: dict[str, float]) -> None:
    for file, weight in blend(near, past).items():
        assert past.get(file, 0.0) <= weight <= 1.0


def test_what_goes_with_a_file_does_not_fade_while_others_are_changed() -> None:
    history = History()
    for _ in range(6):
        history.add(["a", "b"])
    before = history.with_("a")
    for number in range(3000):
        history.add([f"x{number % 50}", f"y{number % 70}"])
    assert history.with_("a") == before
    assert before["b"] > 0.7


def test_what_is_busy_elsewhere_does_not_outweigh_the_company_of_a_file_with_a_past() -> None:
    history = History()
    for number in range(40):
        history.add(["a", "b"] if number % 8 == 0 else ["a", f"c{number}"])
    history.add(["busy", "other"])
    ranked = blend({}, history.with_("a"), history.heat(), changes=history.changes("a"))
    assert ranked["b"] > ranked["busy"] > 0
    fresh = blend({}, history.with_("new"), history.heat(), changes=history.changes("new"))
    assert fresh["busy"] > ranked["busy"]


def test_history_counts_online_as_it_does_in_one_go() -> None:
    commits = [["a", "b"], ["b", "c", "a"], ["c"], ["a", "c"]]
    history = History()
    for files in commits:
        history.add(files)
    assert {(a, b): w for a, b, w, _ in measure_cochange(commits)} == {
        (a, b): round(w, 4) for a in history.files() for b, w in history.with_(a).items() if w >= 0.02
    }


# --- the map -------------------------------------------------------------------------------------------------------


def test_the_map_tells_layers_needs_and_where_programs_begin(indexed: Recollect, tree: Tree) -> None:
    files = {
        "cli/main.py": "from core.work import do\n\ndef main():\n    do()\n\nif __name__ == '__main__':\n    main()\n",
        "core/work.py": "from store.rows import put\n\ndef do():\n    put()\n",
        "store/rows.py": "def put():\n    pass\n",
        "tests/test_work.py": "from core.work import do\n\ndef test_do():\n    do()\n",
    }
    indexed.code.index(tree(files), passages=False)
    modules = {module.path: module for module in indexed.code.map().modules}
    assert modules["cli/"].layer > modules["core/"].layer > modules["store/"].layer == 0
    assert modules["cli/"].entries == ("cli/main.py",)
    assert [name for name, _ in modules["core/"].needs] == ["store/"]
    assert set(modules["core/"].needed_by) == {"cli/", "tests/"}
    assert (modules["tests/"].role, modules["store/"].role) == ("tests", "data")


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=4)))
def test_layers_respect_every_need_outside_a_circle(needs: dict[str, list[str]]) -> None:
    layers = assign_layers(needs)

    def reaches(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for other in needs.get(todo.pop(), ()):
                if other in needs and other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    for name, others in needs.items():
        for other in others:
            if other in needs and name not in reaches(other):
                assert layers[name] > layers[other]
            elif other in needs:
                assert layers[name] == layers[other]


def test_a_use_tree_becomes_single_imports() -> None:
    found = {(one.module, one.name, one.local, one.type) for one in read_use_tree("a::{self, b as c, d::{e, f::*}}")}
    assert found == {
        ("", "a", "a", "use"),
        ("a", "b", "c", "use"),
        ("a::d", "e", "e", "use"),
        ("a::d::f", "", "", "all"),
    }


# --- SCIP ----------------------------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(*fields: tuple[int, int | bytes]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def occurrence(line: int, symbol: str, roles: int) -> tuple[int, bytes]:
    packed = b"".join(varint(part) for part in (line - 1, 4, 9))
    return 2, message((1, packed), (2, symbol.encode()), (3, roles))


def test_a_scip_index_confirms_completes_and_corrects(indexed: Recollect, tree: Tree, tmp_path: Path) -> None:
    files = {
        "a.py": "from b import Work\n\ndef go(thing):\n    Work()\n    thing.perform()\n    thing.vanish()\n",
        "b.py": (
            "class Work:\n    def perform(self):\n        pass\n\nclass Other:\n    def vanish(self):\n        pass\n"
        ),
    }
    indexed.code.index(tree(files), passages=False)
    scheme = "scip-python python demo 0.1 `b`/"
    index = message(
        (1, message((1, 0))),
        (2, message((1, b"b.py"), occurrence(1, scheme + "Work#", 1), occurrence(2, scheme + "Work#perform().", 1))),
        (
            2,
            message(
                (1, b"a.py"),
                occurrence(4, scheme + "Work#", 8),
                occurrence(5, scheme + "Work#perform().", 8),
                occurrence(5, "local 1", 8),
            ),
        ),
        (2, message((1, b"unknown.py"))),
    )
    path = tmp_path / "index.scip"
    path.write_bytes(index)
    done = indexed.code.import_scip(path)
    assert (done.documents, done.unknown, done.dropped) == (3, 1, 1)
    edges = {(e.source, e.target): e for e in indexed.store.graph.edges() if e.type == "calls"}
    assert edges["a.py:go", "b.py:Work"].origin == "scip"
    assert edges["a.py:go", "b.py:Work.perform"].confidence == 1.0
    assert ("a.py:go", "b.py:Other.vanish") not in edges


@pytest.mark.parametrize(
    ("symbol", "line", "leads"),
    [("`b`/", 1, True), ("`b`/__init__:", 1, True), ("`b`/", 3, False), ("`b`/LIMIT.", 1, False)],
    ids=["the module", "its marker", "not at its start", "a value on the first line"],
)
def test_a_scip_definition_is_the_file_only_as_its_module_at_its_start(
    symbol: str, line: int, leads: bool, indexed: Recollect, tree: Tree, tmp_path: Path
) -> None:
    files = {"a.py": "def go(thing):\n    return thing\n", "b.py": "LIMIT = 3\n\nOTHER = 4\n"}
    indexed.code.index(tree(files), passages=False)
    name = f"scip-python python demo 0.1 {symbol}"
    path = tmp_path / "index.scip"
    path.write_bytes(
        message(
            (1, message((1, 0))),
            (2, message((1, b"b.py"), occurrence(line, name, 1))),
            (2, message((1, b"a.py"), occurrence(2, name, 8))),
        )
    )
    indexed.code.import_scip(path)
    told = {(edge.source, edge.target) for edge in indexed.store.graph.edges() if edge.origin == "scip"}
    assert bool(told) is leads, told


@pytest.mark.parametrize("data", [b"\x12\xff\xff\xff\xff\x0f", b"\x07", b"\xff" * 20, b"\x12\x05ab"])
def test_a_broken_scip_index_is_told_and_changes_nothing(
    data: bytes, indexed: Recollect, tree: Tree, tmp_path: Path
) -> None:
    indexed.code.index(tree(SHOP), passages=False)
    before = indexed.store.graph.edges()
    path = tmp_path / "index.scip"
    path.write_bytes(data)
    with pytest.raises(BadScip):
        indexed.code.import_scip(path)
    assert indexed.store.graph.edges() == before


# --- the semantic layer --------------------------------------------------------------------------------------------


def test_a_model_adds_relations_between_real_nodes_only_within_its_budget(tree: Tree) -> None:
    said = [
        {"source": "shop/view.py:show", "type": "flows_to", "target": "shop/tax.py:other", "confidence": 1.0},
        {"source": "shop/view.py:show", "type": "flows_to", "target": "made/up.py", "confidence": 1.0},
        {"source": "shop/view.py:show", "type": "loves", "target": "shop/tax.py:other"},
    ]
    model = ScriptedModel("\n".join(json.dumps(one) for one in said) + "\nnot json\n")
    with recollect.open(":memory:", project="test", model=model) as indexed:
        indexed.code.index(tree(SHOP), passages=False)
        done = indexed.code.analyse()
        assert (done.modules, done.edges, done.refused) == (1, 1, 2)
        assert "shop/cart.py:total calls shop/tax.py:rate" in model.asked[0]
        (edge,) = [e for e in indexed.store.graph.edges() if e.origin == "llm"]
        assert (edge.layer, edge.confidence) == ("semantic", 0.8)
        assert "shop/tax.py:other" in {node.node for node in indexed.code.trace("shop/view.py:show").nodes}
        assert indexed.code.analyse(budget=10).modules == 0
        costs = indexed.store.spend.by_feature(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
        assert [cost.feature for cost in costs] == ["code"]


def test_a_module_that_uses_another_is_asked_about_by_itself(tree: Tree) -> None:
    files = {
        "core/money.py": "def add(a, b):\n    return a + b\n\ndef double(a):\n    return add(a, a)\n",
        "shop/cart.py": "from core.money import add\n\ndef total():\n    return add(1, 2)\n",
    }
    model = ScriptedModel("", "")
    with recollect.open(":memory:", project="test", model=model) as indexed:
        indexed.code.index(tree(files), passages=False)
        assert indexed.code.analyse().modules == 2
    (core,) = [asked for asked in model.asked if "core/money.py:double" in asked]
    (shop,) = [asked for asked in model.asked if "shop/cart.py:total" in asked]
    assert "core/money.py:double calls core/money.py:add" in core
    assert "shop/cart.py" not in core
    assert "core/money.py:add" not in shop


def test_without_a_configured_model_the_semantic_layer_says_what_it_needs(indexed: Recollect, tree: Tree) -> None:
    indexed.code.index(tree(SHOP), passages=False)
    with pytest.raises(NoModel):
        indexed.code.analyse()


# --- care ----------------------------------------------------------------------------------------------------------


def test_edges_that_end_in_nothing_are_found_and_mended(indexed: Recollect, tree: Tree) -> None:
    indexed.code.index(tree(SHOP), passages=False)
    assert check(indexed.store).ok
    with indexed.store.engine.write():
        indexed.store.engine.execute("delete from code_nodes where key = 'shop/tax.py:rate'")
    (finding,) = check(indexed.store).findings
    assert (finding.area, finding.projection) == ("code", True)
    rebuild(indexed.store)
    assert check(indexed.store).ok
    indexed.code.index(full=True, passages=False)
    assert indexed.code.impact("tax.py:rate").nodes


# --- the commands --------------------------------------------------------------------------------------------------


def test_the_commands_answer_in_words_and_in_json(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tree(SHOP))
    assert main(["code", "impact", "x.py"]) == 5
    assert main(["code", "index"]) == 0
    assert "3 added" in capsys.readouterr().out
    assert main(["code", "index", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unchanged"] == 3
    assert main(["code", "impact", "tax.py:rate"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"1 .* calls +shop/cart.py:total:3", said)
    assert main(["--json", "code", "impact", "tax.py:rate", "--depth", "1"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {one["node"] for one in answer["nodes"]} == {"shop/cart.py:total", "shop/cart.py"}
    for words in (["deps", "view.py"], ["trace", "view.py:show"], ["map"], ["search", "rate"]):
        assert main(["code", *words]) == 0
        assert capsys.readouterr().out.strip()
        assert main(["code", *words, "--json"]) == 0
        json.loads(capsys.readouterr().out)
    assert main(["code", "impact", "nowhere.py"]) == 3
    assert main(["code", "index", "/no/such/place"]) == 2


# --- files that go together ----------------------------------------------------------------------------------------


def test_related_files_are_those_that_use_it_and_those_it_uses_the_nearest_first(
    indexed: Recollect, tree: Tree
) -> None:
    files = {
        "core.py": "def base():\n    return 1\n",
        "mid.py": "from core import base\n\ndef mid():\n    return base()\n",
        "top.py": "from mid import mid\n\ndef top():\n    return mid()\n",
        "alone.py": "def alone():\n    return 1\n",
    }
    indexed.code.index(tree(files), passages=False)
    of_core = indexed.code.related("core.py")
    assert [file for file, _ in of_core] == ["mid.py", "top.py"]
    assert of_core[0][1] > of_core[1][1] > 0
    assert {file for file, _ in indexed.code.related("mid.py")} == {"core.py", "top.py"}
    assert indexed.code.related("core.py", k=1) == of_core[:1]
    assert indexed.code.related("alone.py") == []


def test_a_renamed_file_keeps_its_past_in_the_counts_of_commits() -> None:
    history, same = History(), History()
    for files in (("a", "b"), ("a", "b", "c"), ("c",)):
        history.add(files)
        same.add(tuple("new" if file == "a" else file for file in files))
    history.rename("a", "new")
    history.rename("unknown", "other")
    assert history.files() == same.files() == ["b", "c", "new"]
    for file in ("b", "c", "new"):
        assert history.with_(file) == pytest.approx(same.with_(file))
    assert history.heat() == pytest.approx(same.heat())


def test_a_file_renamed_onto_another_takes_the_past_of_both() -> None:
    history = History()
    history.add(("a", "b"))
    history.add(("new", "b"))
    history.add(("a", "new"))
    history.rename("a", "new")
    assert history.files() == ["b", "new"]
    assert set(history.with_("new")) == {"b"}
    assert set(history.with_("b")) == {"new"}


def test_a_scip_index_tells_what_implements_what(indexed: Recollect, tree: Tree, tmp_path: Path) -> None:
    files = {"a.py": "class Base:\n    pass\n\nclass Made:\n    pass\n\nclass Other:\n    pass\n"}
    indexed.code.index(tree(files), passages=False)
    base, made, other = (f"scip-python python demo 0.1 `a`/{name}#" for name in ("Base", "Made", "Other"))

    def symbol(name: str, target: str, *, implements: int) -> tuple[int, bytes]:
        return 3, message((1, name.encode()), (4, message((1, target.encode()), (3, implements))))

    path = tmp_path / "index.scip"
    path.write_bytes(
        message(
            (1, message((1, 0))),
            (
                2,
                message(
                    (1, b"a.py"),
                    *(occurrence(line, name, 1) for line, name in ((1, base), (4, made), (7, other))),
                    symbol(made, base, implements=1),
                    symbol(other, base, implements=0),
                ),
            ),
        )
    )
    indexed.code.import_scip(path)
    told = {(edge.source, edge.type, edge.target) for edge in indexed.store.graph.edges() if edge.origin == "scip"}
    assert told == {("a.py:Made", "implements", "a.py:Base")}


def test_memories_about_files_come_in_the_order_of_the_files_then_by_confidence(memory: Recollect) -> None:
    from recollect.code.recall import _order_by_file

    kept = [
        memory.remember("Third.", files=["b.py"], confidence=0.5).memory,
        memory.remember("First.", files=["a.py", "z.py"], confidence=0.4).memory,
        memory.remember("Fourth.", files=["z.py"], confidence=0.9).memory,
        memory.remember("Second.", files=["b.py"], confidence=0.8).memory,
    ]
    ordered = _order_by_file(kept, ["a.py", "b.py"])
    assert [one.content for one in ordered] == ["First.", "Second.", "Third.", "Fourth."]
