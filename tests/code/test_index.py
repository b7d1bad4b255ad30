from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import recollect
from code_programs import PROGRAMS
from recollect.app import Recollect
from recollect.code.index import make_manifest_reader
from recollect.code.workers import MEMORY_BYTES, Unparsed, Wanted, Workers
from recollect.core.errors import AmbiguousNode, CodeNotIndexed, InvalidField, NodeNotFound
from recollect.core.query import Filter

MANY = {
    "pkg/__init__.py": "from .b import B\n",
    "pkg/a.py": "from .b import B, util\n\ndef go():\n    util()\n    return B().run()\n",
    "pkg/b.py": "from .c import Base\n\ndef util():\n    return 1\n\nclass B(Base):\n    pass\n",
    "pkg/c.py": (
        "class Base:\n    def run(self):\n        return self.stop_it()\n\n    def stop_it(self):\n        return 0\n"
    ),
    "main.py": (
        "import pkg\nfrom pkg.a import go\n\ndef start():\n    go()\n    pkg.B().run()\n    missing.later_made()\n"
    ),
}


def graph_of(memory: Recollect) -> tuple[object, object]:
    graph = memory.store.graph
    nodes = sorted((n.key, n.type, n.digest) for n in graph.in_files(graph.files()).values())
    return nodes, graph.edges()


def fresh(root: Path, tmp_path: Path, name: str) -> tuple[object, object]:
    with recollect.open(tmp_path / f"{name}.db", project="p") as memory:
        memory.code.index(root, passages=False)
        return graph_of(memory)


@pytest.mark.parametrize(
    "change",
    [
        {"pkg/c.py": "class Base:\n    def run(self):\n        return 1\n"},
        {"pkg/b.py": "from .c import Base\n\nclass B(Base):\n    def run(self):\n        return 2\n"},
        {"pkg/d.py": "def later_made():\n    return 1\n"},
        {"pkg/a.py": "# nothing left\n"},
        {"pkg/b.py": None, "pkg/bb.py": MANY["pkg/b.py"], "pkg/__init__.py": "from .bb import B\n"},
        {"requests.py": "def get():\n    return 1\n"},
        {"pkg/c.py": MANY["pkg/c.py"] + "\n    def go(self):\n        return 1\n\ndef fn():\n    return Base()\n"},
        {"pkg/c.py": MANY["pkg/c.py"].replace("def run", "def ran")},
        {"pkg/b.py": None},
        {"main.py": "from pkg import *\n\ndef start():\n    return B()\n"},
    ],
)
def test_an_incremental_index_equals_a_full_one(
    change: dict[str, str | None], indexed: Recollect, tree, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    root = tree(MANY)
    indexed.code.index(root, passages=False)
    for name, text in change.items():
        if text is None:
            (root / name).unlink()
        else:
            tree({name: text})
    indexed.code.index(root, passages=False)
    assert graph_of(indexed) == fresh(root, tmp_path, "whole")
    assert indexed.store.graph.counts()[3] == 0


def test_many_random_edits_still_equal_a_full_index(indexed: Recollect, tree, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    chance = random.Random(7)
    root = tree(PROGRAMS["python"].files)
    for step in range(12):
        path = chance.choice(sorted(root.rglob("*.py")))
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        if lines and chance.random() < 0.5:
            del lines[chance.randrange(len(lines))]
        else:
            name = chance.choice(["net", "label", "make", "fresh"]) + chance.choice(["", "2"])
            lines.append(f"\ndef {name}():\n    return net(1)\n")
        path.write_text("".join(lines))
        indexed.code.index(root, passages=False)
        if step % 4 == 3:
            assert graph_of(indexed) == fresh(root, tmp_path, f"whole{step}")


CIRCLES = {
    "a.py": "from b import *\nfrom c import *\n\ndef one():\n    return two() + three() + nowhere()\n",
    "b.py": "from a import *\nfrom c import *\n\ndef two():\n    return one() + three()\n\nclass X(Y):\n    pass\n",
    "c.py": "from b import *\nfrom a import *\n\ndef three():\n    return one() + two()\n\nclass Y(X):\n    pass\n",
    "d.py": "from a import *\n\ndef four():\n    X().run_it()\n    return three() + two() + one()\n",
}


@pytest.mark.parametrize("edited", sorted(CIRCLES))
def test_circles_of_imports_and_bases_give_one_answer_in_any_order(
    edited: str, indexed: Recollect, tree, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    root = tree(CIRCLES)
    indexed.code.index(root, passages=False)
    tree({edited: CIRCLES[edited] + "\ndef extra():\n    return two()\n"})
    indexed.code.index(root, passages=False)
    assert graph_of(indexed) == fresh(root, tmp_path, "whole")
    calls = {(e.source, e.target) for e in indexed.store.graph.edges() if e.type == "calls"}
    assert {("d.py:four", "a.py:one"), ("d.py:four", "b.py:two"), ("d.py:four", "c.py:three")} <= calls
    assert {("a.py:one", "b.py:two"), ("b.py:two", "c.py:three"), ("c.py:three", "a.py:one")} <= calls


def test_only_what_changed_is_read_again(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    root = tree(MANY)
    first = indexed.code.index(root)
    assert (len(first.added), first.unchanged) == (5, 0)
    assert not indexed.code.index(root).changed
    os.utime(root / "main.py", (1, 1))
    touched = indexed.code.index(root)
    assert (touched.updated, touched.unchanged) == ((), 5)
    tree({"pkg/c.py": MANY["pkg/c.py"].replace("return 0", "return 3")})
    body = indexed.code.index(root)
    assert (body.updated, body.resolved) == (("pkg/c.py",), 1)


def test_a_renamed_file_is_recognised_and_its_passages_move(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    root = tree(MANY)
    indexed.code.index(root)
    (root / "pkg/c.py").rename(root / "pkg/base.py")
    done = indexed.code.index(root)
    assert done.renamed == (("pkg/c.py", "pkg/base.py"),)
    passages = Filter(kinds=frozenset({"passage"}), files=frozenset({"pkg/c.py"}))
    assert indexed.count(passages) == 0
    assert indexed.code.search("stop_it")[0].memory.files == ("pkg/base.py",)


def test_impact_tells_those_that_reach_the_target_and_never_those_it_reaches(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    root = tree({**MANY, "tests/test_a.py": "from pkg.a import go\n\ndef test_go():\n    assert go()\n"})
    indexed.code.index(root, passages=False)
    found = indexed.code.impact("pkg/b.py:util")
    reached = {node.node: node for node in found.nodes}
    assert {"pkg/a.py:go", "main.py:start", "tests/test_a.py:test_go"} <= set(reached)
    assert not any(node.startswith("pkg/c.py") for node in reached)
    assert reached["tests/test_a.py:test_go"].path == (("pkg/a.py:go", "calls"), ("tests/test_a.py:test_go", "calls"))
    assert found.tests == ("tests/test_a.py",)
    assert found.score == pytest.approx(sum(node.strength for node in found.nodes))
    needed = {node.node for node in indexed.code.deps("pkg/a.py:go").nodes}
    assert {"pkg/b.py:util", "pkg/b.py:B", "pkg/c.py:Base.run"} <= needed
    assert "main.py:start" not in needed
    flow = indexed.code.trace("main.py:start")
    assert {type for node in flow.nodes for _, type in node.path} <= {"calls", "flows_to"}


def test_a_cut_answer_says_how_much_was_left_out(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    users = {f"u{n:02}.py": f"from hub import f\n\ndef use{n}():\n    f()\n" for n in range(30)}
    indexed.code.index(tree({"hub.py": "def f():\n    pass\n", **users}), passages=False)
    found = indexed.code.impact("hub.py:f", limit=10)
    assert len(found.nodes) == 10
    assert found.left_out == 50
    assert "50 more" in found.notes[0]


def test_memories_about_a_file_come_with_its_impact(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    indexed.code.index(tree(MANY))
    kept = indexed.remember("Callers of go must hold the lock.", kind="gotcha", files=["pkg/a.py"])
    other = indexed.remember("Base.run is slow.", kind="gotcha", node="pkg/c.py:Base.run")
    assert [memory.id for memory in indexed.code.impact("pkg/b.py:util").memories] == [kept.id]
    assert other.id in [memory.id for memory in indexed.code.impact("pkg/c.py").memories]


def test_targets_that_are_not_there_or_not_clear_are_told(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(CodeNotIndexed):
        indexed.code.impact("a.py")
    indexed.code.index(tree({**MANY, "other/a.py": "x = 1\n"}), passages=False)
    with pytest.raises(NodeNotFound):
        indexed.code.impact("nowhere.py:thing")
    with pytest.raises(AmbiguousNode):
        indexed.code.impact("a.py")
    assert indexed.code.impact("pkg/c.py:run").target == "pkg/c.py:Base.run"
    with pytest.raises(InvalidField):
        indexed.code.index("/no/such/directory")


# --- bad input -----------------------------------------------------------------------------------------------------


def test_hostile_files_are_reported_and_cost_nobody_else(indexed: Recollect, tree, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    root = tree(
        {
            "good.py": "def fine():\n    return 1\n",
            "broken.py": "def half(:\n    return (\n\ndef whole():\n    return 2\n",
            "deep.py": "x = " + "(" * 20_000 + ")" * 20_000 + "\n",
            "circle_a.py": "from circle_b import *\nfrom circle_b import b\n\ndef a():\n    b()\n",
            "circle_b.py": (
                "from circle_a import *\nfrom circle_a import a\n\nclass A(A):\n    pass\n\ndef b():\n    a()\n"
            ),
            "made.go": "// Code generated by tool. DO NOT EDIT.\npackage x\n",
            "vendor/theirs.py": "def no():\n    pass\n",
            "empty.py": "",
        }
    )
    (root / "huge.js").write_text("var a = 1;\n" * 1_000_000)
    (root / "line.js").write_text("a(" * 30_000)
    (root / "binary.py").write_bytes(b"\0\1\2" * 100)
    (root / "latin.py").write_bytes("# café\ndef coffee():\n    return 'é'\n".encode("latin-1"))
    (root / "wide.py").write_bytes("def wide():\n    return 1\n".encode("utf-16"))
    (root / "evil.js").write_text('"' * 15_000 + "\n" + ('"' * 15_000 + "\n") * 20)
    (root / "loop").symlink_to(root)
    (root / "gone.py").symlink_to(root / "nothing.py")
    done = indexed.code.index(root)
    why = dict(done.skipped)
    assert "larger" in why["huge.js"]
    assert "longer" in why["line.js"]
    assert why["binary.py"] == "binary"
    assert why["made.go"] == "generated"
    assert "time or memory" in why["evil.js"]
    assert "gone.py" in why
    nodes = {file.key for file in indexed.store.graph.in_files(indexed.store.graph.files()).values()}
    assert {"good.py:fine", "broken.py:whole", "latin.py:coffee", "wide.py:wide", "deep.py", "empty.py"} <= nodes
    assert not any("vendor" in key for key in nodes)
    assert "circle_b.py:b" in {node.node for node in indexed.code.impact("circle_a.py:a").nodes}


def test_a_file_that_vanishes_during_the_index_is_reported(tmp_path: Path) -> None:
    with Workers(1) as workers:
        (one,) = workers.parse([Wanted("gone.py", tmp_path, "python")])
    assert isinstance(one, Unparsed)
    assert "cannot be read" in one.reason


def test_a_language_without_its_grammar_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hidden = tmp_path / "tree_sitter_go.py"
    hidden.write_text("raise ImportError('hidden for this test')\n")
    (tmp_path / "x.go").write_text("package x\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Workers(1) as workers:
        (one,) = workers.parse([Wanted("x.go", tmp_path, "go")])
    assert isinstance(one, Unparsed)
    assert "install tree-sitter-go" in one.reason


def test_a_tree_without_git_and_one_with_are_both_indexed(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    root = tree(MANY)
    indexed.code.index(root, passages=False)
    assert indexed.store.graph.cochanged(["pkg/a.py"]) == []
    git(root, "init", "-q")
    for number in range(3):
        tree({"pkg/a.py": MANY["pkg/a.py"] + f"# {number}\n", "pkg/b.py": MANY["pkg/b.py"] + f"# {number}\n"})
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"step {number}")
    git(root, "mv", "pkg/b.py", "pkg/bee.py")
    git(root, "commit", "-qm", "rename")
    indexed.code.index(root, passages=False)
    assert indexed.store.graph.cochanged(["pkg/a.py"])[0][0] == "pkg/bee.py"
    assert indexed.store.graph.churn(["pkg/bee.py"])["pkg/bee.py"][0] == 4


def git(root: Path, *args: str) -> None:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", str(root), *name, *args], check=True, capture_output=True)


def test_watching_reads_a_change_once_it_is_quiet(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    root = tree(MANY)
    stop = threading.Event()
    runs = indexed.code.watch(root, stop=stop)
    assert len(next(runs).added) == 5
    tree({"pkg/e.py": "def extra():\n    return 1\n"})
    done = next(runs)
    assert done.added == ("pkg/e.py",)
    stop.set()
    assert next(runs, None) is None


def test_edges_of_a_changed_file_are_stale_before_it_is_read_again(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    indexed.code.index(tree(MANY), passages=False)
    with indexed.store.engine.write():
        indexed.store.graph.mark_stale(["pkg/a.py"])
    assert not any(node.node == "pkg/a.py:go" for node in indexed.code.impact("pkg/b.py:util").nodes)
    assert "being read again" in indexed.code.impact("pkg/b.py:util").notes[-1]


def test_a_changed_manifest_resolves_everything_anew(indexed: Recollect, tree, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    root = tree({**PROGRAMS["go"].files, "go.mod": "module elsewhere.org/x\n"})
    indexed.code.index(root, passages=False)
    assert not indexed.code.impact("router/router.go:New").nodes
    tree({"go.mod": "module example.com/web\n\ngo 1.21\n"})
    assert not indexed.code.index(root, passages=False).updated
    assert indexed.code.impact("router/router.go:New").nodes[0].node == "main.go:main"
    assert graph_of(indexed) == fresh(root, tmp_path, "whole")


def test_told_what_changed_the_rest_of_the_tree_is_not_looked_at(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    root = tree(MANY)
    indexed.code.index(root, passages=False)
    tree({"pkg/c.py": "x = 1\n", "main.py": "y = 2\n"})
    done = indexed.code.index(root, only=["pkg/c.py"], passages=False)
    assert (done.updated, done.unchanged) == (("pkg/c.py",), 4)
    assert indexed.code.index(root, passages=False).updated == ("main.py",)


def test_the_troubles_of_files_committed_together_are_told_beside_each_other(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    indexed.code.index(tree(MANY), passages=False)
    with indexed.store.engine.write():
        indexed.store.graph.replace_history([("pkg/x.py", "pkg/y.py", 0.8, 9), ("pkg/x.py", "pkg/z.py", 0.3, 2)], [])
    indexed.remember("Flush the buffer twice.", kind="gotcha", files=["pkg/y.py"])
    indexed.remember("Colours come last.", kind="decision", files=["pkg/y.py"])
    (hit,) = indexed.recall("zebra", files=["pkg/x.py"], filter=Filter(kinds=frozenset({"gotcha", "pattern"})))
    assert hit.memory.content == "Flush the buffer twice."
    assert "goes with pkg/y.py" in hit.reasons or "one edge away" in hit.reasons


@pytest.mark.parametrize(
    ("importer", "said", "later"),
    [
        ("a.py", "from lib.helper import help_\n", "lib/helper.py"),
        ("a.ts", 'import { help_ } from "./lib/helper.js";\n', "lib/helper.ts"),
        ("a.ts", 'import { help_ } from "./lib/helper";\n', "lib/helper/index.ts"),
    ],
)
def test_an_import_of_a_file_that_comes_later_leads_to_it_once_it_is_there(
    importer: str,
    said: str,
    later: str,
    indexed: Recollect,
    tree,  # type: ignore[no-untyped-def]
) -> None:
    body = "export function help_() {}\n" if later.endswith("ts") else "def help_():\n    return 1\n"
    root = tree({importer: said, "other.py": "x = 1\n"})
    indexed.code.index(root, passages=False)
    tree({later: body})
    indexed.code.index(root, passages=False)
    found = {(e.source, e.target) for e in indexed.store.graph.edges() if e.type == "imports"}
    assert any(source == importer and target.partition(":")[0] == later for source, target in found), found


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_became_a_link_after_it_was_found_is_not_read(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "x.py").write_text("def theirs():\n    return 1\n")
    (root / "link.py").symlink_to(outside / "x.py")
    (root / "folder").symlink_to(outside)
    os.mkfifo(root / "pipe.py")
    names = ("link.py", "folder/x.py", "pipe.py", "../outside/x.py")
    with Workers(1) as workers:
        done = list(workers.parse([Wanted(name, root, "python") for name in names]))
    assert [type(one) for one in done] == [Unparsed] * len(names)
    assert all(isinstance(one, Unparsed) and "cannot be read" in one.reason for one in done)
    read = make_manifest_reader(root)
    assert [read(name) for name in names] == [""] * len(names)


@pytest.mark.parametrize("target", ["x" * 60_000, "_" * 30_000, "a/" * 30_000 + "x.py:f", "go\0", "\0"])
def test_a_name_no_node_can_have_is_not_found(indexed: Recollect, tree, target: str) -> None:  # type: ignore[no-untyped-def]
    indexed.code.index(tree(MANY), passages=False)
    with pytest.raises(NodeNotFound):
        indexed.code.impact(target)
    with pytest.raises(NodeNotFound):
        indexed.code.deps(target)


@pytest.mark.parametrize(
    ("importing", "later"),
    [
        ("from . import later\n\ndef use():\n    return later.x()\n", "pkg/later.py"),
        ("import pkg.later\n\ndef use():\n    return pkg.later.x()\n", "pkg/later.py"),
        ("from pkg.later import x\n\ndef use():\n    return x()\n", "pkg/later.py"),
        ("from .later.deep import x\n\ndef use():\n    return x()\n", "pkg/later/deep.py"),
    ],
)
def test_an_import_of_what_is_not_there_yet_is_resolved_when_it_comes(
    memory: Recollect, tmp_path: Path, importing: str, later: str
) -> None:
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "user.py").write_text(importing)
    memory.code.index(root, passages=False)
    (root / later).parent.mkdir(exist_ok=True)
    (root / later).write_text("def x():\n    return 1\n")
    memory.code.index(root, passages=False)
    edges = {(edge.source, edge.type, edge.target) for edge in memory.store.graph.edges()}
    assert ("pkg/user.py", "imports", later) in edges
    assert ("pkg/user.py:use", "calls", f"{later}:x") in edges


def test_a_worker_bounds_the_memory_it_may_take() -> None:
    program = (
        "import resource; from recollect.code.workers import _bound_memory; _bound_memory(); "
        "print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    )
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) == MEMORY_BYTES


def test_a_method_that_appears_between_a_class_and_its_base_is_the_one_that_is_called_from_then_on(
    memory: Recollect, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    texts = {
        "base.py": "class Base:\n    def run(self):\n        return 0\n",
        "mid.py": "from base import Base\n\nclass Mid(Base):\n    pass\n",
        "leaf.py": "from mid import Mid\n\nclass Leaf(Mid):\n    pass\n",
        "user.py": "from leaf import Leaf\n\ndef go():\n    leaf = Leaf()\n    return leaf.run()\n",
    }
    for name, text in texts.items():
        (root / name).write_text(text)
    memory.code.index(root, passages=False)
    edges = {(edge.source, edge.type, edge.target) for edge in memory.store.graph.edges()}
    assert ("user.py:go", "calls", "base.py:Base.run") in edges
    (root / "mid.py").write_text("from base import Base\n\nclass Mid(Base):\n    def run(self):\n        return 1\n")
    memory.code.index(root, passages=False)
    edges = {(edge.source, edge.type, edge.target) for edge in memory.store.graph.edges()}
    assert ("user.py:go", "calls", "mid.py:Mid.run") in edges
    assert ("user.py:go", "calls", "base.py:Base.run") not in edges
