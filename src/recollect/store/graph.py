"""The code graph: files, nodes, edges, names looked for in vain, co-changes. A projection of the source tree.

Nodes are known outside by their key (`path`, `path:Symbol`, `external:name`) and inside by a number that a node keeps
as long as its key lives, so that edges of other files survive when one file is read again. Walks never see stale edges.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

from recollect.store.port import Engine, Row

_STEP = 500  # values in one list


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it was when it was last read. `reason` tells why it was not parsed; empty when it was."""

    path: str
    language: str
    digest: str
    mtime: int
    size: int
    reason: str = ""
    shape: str = ""  # digest of what other files can see of it


class Node(NamedTuple):
    """A file, a symbol in it, or something from outside."""

    key: str
    type: str
    name: str
    file: str
    start: int = 0
    end: int = 0
    digest: str = ""


class EdgeRow(NamedTuple):
    source: str
    target: str
    type: str
    weight: float
    confidence: float
    layer: str = "structural"
    origin: str = "ast"


# An edge seen from a node on the frontier of a walk: near, far, type, weight with its confidence. A plain tuple,
# because a hub has thousands.
Touching: TypeAlias = tuple[int, int, str, float]


class Graph:
    """Reads and writes the graph. Every method that changes rows must run inside `engine.write()`."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _ANY = "select 1 from code_nodes limit 1"

    def is_empty(self) -> bool:
        """Whether no source tree was indexed."""
        return self._engine.row(self._ANY) is None

    # --- files ----------------------------------------------------------------------------------------------------

    _FILES = "select path, language, digest, mtime, size, reason, shape from code_files order by path"

    def files(self) -> dict[str, FileRow]:
        return {row[0]: FileRow(*row) for row in self._engine.rows(self._FILES)}

    _OUTLINE = "select outline from code_files where path = :path"

    def outline(self, path: str) -> bytes | None:
        """What parsing a file told, as it was put."""
        row = self._engine.row(self._OUTLINE, {"path": path})
        return None if row is None or row[0] is None else zlib.decompress(row[0])

    _PUT_FILE = """
        insert into code_files (path, language, digest, mtime, size, reason, shape, outline)
        values (?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (path) do update set language = excluded.language, digest = excluded.digest,
                mtime = excluded.mtime, size = excluded.size, reason = excluded.reason, shape = excluded.shape,
                outline = excluded.outline
    """

    def put_files(self, files: Iterable[tuple[FileRow, str | None]]) -> None:
        """Keep files with their outlines."""
        self._engine.execute_many(
            self._PUT_FILE,
            [
                (f.path, f.language, f.digest, f.mtime, f.size, f.reason, f.shape, None if o is None else _packed(o))
                for f, o in files
            ],
        )

    _TOUCH = "update code_files set mtime = ?, size = ? where path = ?"

    def touch(self, files: Iterable[FileRow]) -> None:
        """Note that files were written again with the same words."""
        self._engine.execute_many(self._TOUCH, [(file.mtime, file.size, file.path) for file in files])

    _DROP_FILE = "delete from code_files where path = ?"
    _DROP_INTO = "delete from code_edges where target in (select id from code_nodes where file = ?)"
    _DROP_FROM = "delete from code_edges where source in (select id from code_nodes where file = ?)"
    _DROP_WANTS = "delete from code_wants where owner in (select id from code_nodes where key = ?)"
    _DROP_NODES = "delete from code_nodes where file = ?"

    def drop_files(self, paths: Sequence[str]) -> None:
        """Remove files with all that was read from them and every edge that touches them."""
        rows = [(path,) for path in paths]
        for statement in (self._DROP_INTO, self._DROP_FROM, self._DROP_WANTS, self._DROP_NODES, self._DROP_FILE):
            self._engine.execute_many(statement, rows)

    # --- nodes ----------------------------------------------------------------------------------------------------

    _PUT_NODE = """
        insert into code_nodes (key, type, name, file, start, end, digest) values (?, ?, ?, ?, ?, ?, ?)
            on conflict (key) do update set type = excluded.type, name = excluded.name, file = excluded.file,
                start = excluded.start, end = excluded.end, digest = excluded.digest
    """
    _OF_FILE = "select id, key from code_nodes where file = :file"
    _DROP_NODE = "delete from code_nodes where id = ?"
    _DROP_NODE_EDGES = "delete from code_edges where target = ?1 or source = ?1"

    def put_nodes(self, nodes: Sequence[Node]) -> None:
        self._engine.execute_many(self._PUT_NODE, nodes)

    def replace_nodes(self, file: str, nodes: Sequence[Node]) -> None:
        """Let these be the nodes of a file: known ones keep their number, those gone take their edges along."""
        wanted = {node.key for node in nodes}
        gone = [(id,) for id, key in self._engine.rows(self._OF_FILE, {"file": file}) if key not in wanted]
        self._engine.execute_many(self._DROP_NODE_EDGES, gone)
        self._engine.execute_many(self._DROP_NODE, gone)
        self.put_nodes(nodes)

    _NODE = "select id, key, type, name, file, start, end, digest from code_nodes"
    _BY_KEY = f"{_NODE} where key in (select value from json_each(:values))"
    _BY_ID = f"{_NODE} where id in (select value from json_each(:values))"
    _IN_FILES = f"{_NODE} where file in (select value from json_each(:values)) order by file, start, key"
    _NAMED = f"{_NODE} where name = :name and file <> '' order by key"
    _HASHED = f"{_NODE} where digest in (select value from json_each(:values)) and digest <> '' order by key"
    _ENDING = f"{_NODE} where key like :tail escape '\\' order by length(key), key limit 6"

    def by_key(self, keys: Iterable[str]) -> dict[str, int]:
        """The numbers of nodes."""
        return {row[1]: row[0] for row in self._listed(self._BY_KEY, keys)}

    _NUMBERS = "select key, id from code_nodes"

    def numbers(self) -> dict[str, int]:
        """The numbers of all nodes."""
        return dict(self._engine.rows(self._NUMBERS))

    def nodes(self, ids: Iterable[int]) -> dict[int, Node]:
        return {row[0]: Node(*row[1:]) for row in self._listed(self._BY_ID, ids)}

    def node(self, key: str) -> Node | None:
        return next((Node(*row[1:]) for row in self._listed(self._BY_KEY, [key])), None)

    def in_files(self, files: Iterable[str]) -> dict[int, Node]:
        """Files and their symbols, by file and line."""
        return {row[0]: Node(*row[1:]) for row in self._listed(self._IN_FILES, files)}

    def named(self, name: str) -> list[Node]:
        """Symbols whose own name, without what is around it, is this one."""
        return [Node(*row[1:]) for row in self._engine.rows(self._NAMED, {"name": name})]

    def hashed(self, digests: Iterable[str]) -> list[Node]:
        """Symbols with one of these texts, whatever they are called and wherever they are."""
        return [Node(*row[1:]) for row in self._listed(self._HASHED, digests)]

    def ending_in(self, tail: str) -> list[Node]:
        """The nodes whose key ends so, at most six; for people who do not type whole paths."""
        escaped = tail.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return [Node(*row[1:]) for row in self._engine.rows(self._ENDING, {"tail": f"%{escaped}"})]

    # --- edges ----------------------------------------------------------------------------------------------------

    _PUT_EDGE = """
        insert into code_edges (source, target, type, weight, confidence, layer, origin, owner, stale)
        values (?, ?, ?, ?, ?, ?, ?, ?, 0)
            on conflict (target, source, type) do update set weight = excluded.weight,
                confidence = max(confidence, excluded.confidence), layer = excluded.layer, owner = excluded.owner,
                origin = case when excluded.confidence >= confidence then excluded.origin else origin end, stale = 0
    """

    def put_edges(self, edges: Iterable[EdgeRow], owners: Sequence[int] | int, numbers: Mapping[str, int]) -> None:
        """Add edges read from a file (`owners`: one for all, or one each); those to unknown nodes are left out."""
        rows = []
        for place, edge in enumerate(edges):
            source, target = numbers.get(edge.source), numbers.get(edge.target)
            if source is not None and target is not None:
                owner = owners if isinstance(owners, int) else owners[place]
                rows.append((source, target, *edge[2:], owner))
        self._engine.execute_many(self._PUT_EDGE, rows)

    _DROP_EDGES = "delete from code_edges where owner = ?"
    _DROP_OWN_WANTS = "delete from code_wants where owner = ?"

    def drop_edges(self, owners: Iterable[int]) -> None:
        """Remove all that was read from some files, but not their nodes."""
        rows = [(owner,) for owner in owners]
        self._engine.execute_many(self._DROP_EDGES, rows)
        self._engine.execute_many(self._DROP_OWN_WANTS, rows)

    _STALE = "update code_edges set stale = 1 where owner in (select id from code_nodes where key = ?)"

    def mark_stale(self, paths: Iterable[str]) -> None:
        """From now on nobody sees the edges read from these files, until they are read again."""
        self._engine.execute_many(self._STALE, [(path,) for path in paths])

    _FRESH = "update code_edges set stale = 0 where owner in (select id from code_nodes where key = ?)"

    def mark_fresh(self, paths: Iterable[str]) -> None:
        """These files turned out to say what they said before."""
        self._engine.execute_many(self._FRESH, [(path,) for path in paths])

    _UPGRADE = """
        update code_edges set origin = 'scip', confidence = 1.0 where source = ? and target = ? and origin = 'ast'
    """

    def upgrade(self, pairs: Iterable[tuple[int, int]]) -> None:
        """An exact index confirms these: they are sure now."""
        self._engine.execute_many(self._UPGRADE, list(pairs))

    _GUESSES = """
        delete from code_edges where owner in (select value from json_each(:owners)) and origin = 'ast'
           and confidence <= :guessed
    """

    def drop_guesses(self, owners: Sequence[int], *, guessed: float = 0.5) -> int:
        """Remove what was only guessed about some files; how many edges that were."""
        return self._engine.execute(self._GUESSES, {"owners": json.dumps(list(owners)), "guessed": guessed})

    _INTO = """
        select e.target, e.source, e.type, e.weight * e.confidence from json_each(:values) v
          join code_edges e on e.target = v.value where e.stale = 0 and e.confidence >= :least
    """
    _OUT_OF = """
        select e.source, e.target, e.type, e.weight * e.confidence from json_each(:values) v
          join code_edges e on e.source = v.value where e.stale = 0 and e.confidence >= :least
    """

    def into(self, ids: Sequence[int], *, least: float = 0.0) -> list[Touching]:
        """Edges that end in these nodes, seen from them: who depends on them. Stale ones are not there."""
        return self._touching(self._INTO, ids, least)

    def out_of(self, ids: Sequence[int], *, least: float = 0.0) -> list[Touching]:
        """Edges that begin in these nodes: what they depend on."""
        return self._touching(self._OUT_OF, ids, least)

    def _touching(self, sql: str, ids: Sequence[int], least: float) -> list[Touching]:
        rows = self._engine.rows(sql, {"values": json.dumps(list(ids)), "least": least})
        return cast("list[Touching]", rows)

    _EDGES = """
        select s.key, t.key, e.type, e.weight, e.confidence, e.layer, e.origin from code_edges e
          join code_nodes s on s.id = e.source join code_nodes t on t.id = e.target
         where e.stale = 0 order by s.key, t.key, e.type
    """

    def edges(self) -> list[EdgeRow]:
        """Every edge that is not stale, in a total order."""
        return [EdgeRow(*row) for row in self._engine.rows(self._EDGES)]

    _BETWEEN = """
        select a.file, b.file, count(*), sum(e.weight * e.confidence) from code_edges e
          join code_nodes a on a.id = e.source join code_nodes b on b.id = e.target
         where e.stale = 0 and a.file <> b.file and b.file <> '' and a.file <> '' group by 1, 2
    """

    def between_files(self) -> list[tuple[str, str, int, float]]:
        """How strongly each file depends on each other one."""
        return [(a, b, count, weight) for a, b, count, weight in self._engine.rows(self._BETWEEN)]

    _BESIDE = """
        select distinct b.file from json_each(:values) v
          join code_nodes a on a.file = v.value
          join code_edges e on e.source = a.id and e.stale = 0
          join code_nodes b on b.id = e.target
         where b.file <> v.value and b.file <> ''
        union
        select distinct b.file from json_each(:values) v
          join code_nodes a on a.file = v.value
          join code_edges e on e.target = a.id and e.stale = 0
          join code_nodes b on b.id = e.source
         where b.file <> v.value and b.file <> ''
    """

    def beside(self, files: Sequence[str]) -> list[str]:
        """The files one edge away from some files, in either direction."""
        return sorted(row[0] for row in self._listed(self._BESIDE, files))

    _COUNTS = """
        select (select count(*) from code_files where reason = ''), (select count(*) from code_nodes),
               (select count(*) from code_edges where stale = 0), (select count(*) from code_edges where stale = 1)
    """

    def counts(self) -> tuple[int, int, int, int]:
        """Parsed files, nodes, edges in force, stale edges."""
        row = self._engine.row(self._COUNTS)
        return (0, 0, 0, 0) if row is None else (row[0], row[1], row[2], row[3])

    _COUNT_STALE = "select count(*) from code_edges where stale = 1"

    def stale(self) -> int:
        """How many edges wait to be read again."""
        row = self._engine.row(self._COUNT_STALE)
        return 0 if row is None else int(row[0])

    # --- who has to be asked again --------------------------------------------------------------------------------

    _PUT_WANT = "insert into code_wants (name, owner) values (?, ?) on conflict do nothing"

    def put_wants(self, wants: Iterable[tuple[str, int]]) -> None:
        self._engine.execute_many(self._PUT_WANT, list(wants))

    _DEPENDING = """
        select distinct o.key from code_nodes t join code_edges e on e.target = t.id join code_nodes o on o.id = e.owner
         where t.file in (select value from json_each(:values))
    """
    _WANTING = """
        select distinct o.key from code_wants w join code_nodes o on o.id = w.owner
         where w.name in (select value from json_each(:values))
    """
    _USING = """
        select distinct o.key from code_nodes t join code_edges e on e.target = t.id join code_nodes o on o.id = e.owner
         where t.name in (select value from json_each(:values))
    """

    def depending(self, files: Iterable[str]) -> set[str]:
        """Files from which an edge into one of these was read."""
        return {row[0] for row in self._listed(self._DEPENDING, files)}

    def looking_for(self, names: Iterable[str]) -> set[str]:
        """Files that looked for one of these names in vain, or found another bearer of it."""
        names = list(names)
        return {row[0] for row in (*self._listed(self._WANTING, names), *self._listed(self._USING, names))}

    # --- what git tells -------------------------------------------------------------------------------------------

    _CLEAR_COCHANGE = "delete from code_cochange"
    _CLEAR_CHURN = "delete from code_churn"
    _PUT_COCHANGE = "insert into code_cochange (near, far, weight, times) values (?, ?, ?, ?)"
    _PUT_CHURN = "insert into code_churn (path, commits, rate, heat) values (?, ?, ?, ?)"

    def replace_history(
        self, cochange: Iterable[tuple[str, str, float, int]], churn: Iterable[tuple[str, int, float, float]]
    ) -> None:
        """Let this be what history says: which files change together, and how often each changes."""
        self._engine.execute(self._CLEAR_COCHANGE)
        self._engine.execute(self._CLEAR_CHURN)
        self._engine.execute_many(self._PUT_COCHANGE, list(cochange))
        self._engine.execute_many(self._PUT_CHURN, list(churn))

    _COCHANGED = """
        select far, max(weight), max(times) from code_cochange
         where near in (select value from json_each(:values)) group by far order by 2 desc, far
    """
    _CHURN = "select path, commits, rate from code_churn where path in (select value from json_each(:values))"

    def cochanged(self, files: Sequence[str]) -> list[tuple[str, float, int]]:
        """Files that changed together with these, strongest first: (file, weight, commits)."""
        rows = self._engine.rows(self._COCHANGED, {"values": json.dumps(list(files))})
        return [(path, weight, times) for path, weight, times in rows if path not in files]

    _HOT = "select path, heat from code_churn where heat >= :least"

    def hot(self, *, least: float = 0.05) -> dict[str, float]:
        """Files that were touched by one of the last commits, with how lately that was, from 0 to 1."""
        return dict(self._engine.rows(self._HOT, {"least": least}))

    def churn(self, files: Sequence[str]) -> dict[str, tuple[int, float]]:
        """How often files changed: (commits, changes per day lately)."""
        return {row[0]: (row[1], row[2]) for row in self._listed(self._CHURN, files)}

    _DANGLING = """
        from code_edges where source not in (select id from code_nodes) or target not in (select id from code_nodes)
    """

    def dangling(self) -> int:
        """How many edges end in nothing; in a sound graph none does."""
        row = self._engine.row(f"select count(*) {self._DANGLING}")
        return 0 if row is None else int(row[0])

    def mend(self) -> None:
        """Remove edges that end in nothing. What is missing comes back with the next full index."""
        self._engine.execute(f"delete {self._DANGLING}")

    def _listed(self, sql: str, values: Iterable[object]) -> Iterator[Row]:
        listed = list(values)
        for start in range(0, len(listed), _STEP):
            yield from self._engine.rows(sql, {"values": json.dumps(listed[start : start + _STEP])})


def _packed(outline: str) -> bytes:
    return zlib.compress(outline.encode("utf-8", "surrogatepass"), 1)
