"""The code graph: files, nodes, edges, names looked for in vain, co-changes. A projection of the source tree.

Nodes are known outside by their key (`path`, `path:Symbol`, `external:name`) and inside by a number that a node keeps
as long as its key lives, so that edges of other files survive when one file is read again. Walks never see stale edges.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

from recollect.store.port import Engine, Params, Row, chunks

_STEP = 500  # values in one list
_MAX_TAIL = 5_000  # characters of a key that are looked for: SQLite refuses patterns of 50,000 bytes


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
        self._mine: Params = {"project": project}

    _ANY = "select 1 from code_nodes limit 1"

    def is_empty(self) -> bool:
        """Whether no source tree was indexed."""
        return self._engine.row(self._ANY) is None

    # --- files ----------------------------------------------------------------------------------------------------

    _FILES = """
        select path, language, digest, mtime, size, reason, shape from code_files where project = :project order by path
    """

    def files(self) -> dict[str, FileRow]:
        return {row[0]: FileRow(*row) for row in self._engine.rows(self._FILES, self._mine)}

    _OUTLINE = "select outline from code_files where project = :project and path = :path"

    def outline(self, path: str) -> bytes | None:
        """What parsing a file told, as it was put."""
        row = self._engine.row(self._OUTLINE, {**self._mine, "path": path})
        return None if row is None or row[0] is None else zlib.decompress(row[0])

    _OUTLINES = "select path, outline from code_files where project = :project and outline is not null"
    _DROP_OUTLINE = """
        update code_files set outline = null, digest = '', mtime = 0 where project = :project and path = :path
    """

    def outlines_holding(self, holds: Callable[[str], bool]) -> list[str]:
        """The files of whose text something is kept in which something stands."""
        rows = self._engine.rows(self._OUTLINES, self._mine)
        return [path for path, outline in rows if holds(zlib.decompress(outline).decode("utf-8", "replace"))]

    def drop_outlines(self, paths: Iterable[str]) -> None:
        """Drop what is kept of the text of some files. They are read again next time."""
        for path in paths:
            self._engine.execute(self._DROP_OUTLINE, {**self._mine, "path": path})

    _PUT_FILE = """
        insert into code_files (project, path, language, digest, mtime, size, reason, shape, outline)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (project, path) do update set language = excluded.language, digest = excluded.digest,
                mtime = excluded.mtime, size = excluded.size, reason = excluded.reason, shape = excluded.shape,
                outline = excluded.outline
    """

    def put_files(self, files: Iterable[tuple[FileRow, str | None]]) -> None:
        """Keep files with their outlines."""
        self._engine.execute_many(
            self._PUT_FILE,
            [
                (self._project, f.path, f.language, f.digest, f.mtime, f.size, f.reason, f.shape, _packed(o))
                for f, o in files
            ],
        )

    _TOUCH = "update code_files set mtime = ?, size = ? where path = ? and project = ?"

    def touch(self, files: Iterable[FileRow]) -> None:
        """Note that files were written again with the same words."""
        self._engine.execute_many(self._TOUCH, [(file.mtime, file.size, file.path, self._project) for file in files])

    _DROP_FILE = "delete from code_files where path = ? and project = ?"
    _DROP_INTO = "delete from code_edges where target in (select id from code_nodes where file = ? and project = ?)"
    _DROP_FROM = "delete from code_edges where source in (select id from code_nodes where file = ? and project = ?)"
    _DROP_WANTS = "delete from code_wants where owner in (select id from code_nodes where key = ? and project = ?)"
    _DROP_NODES = "delete from code_nodes where file = ? and project = ?"

    def drop_files(self, paths: Sequence[str]) -> None:
        """Remove files with all that was read from them and every edge that touches them."""
        rows = [(path, self._project) for path in paths]
        for statement in (self._DROP_INTO, self._DROP_FROM, self._DROP_WANTS, self._DROP_NODES, self._DROP_FILE):
            self._engine.execute_many(statement, rows)

    # --- nodes ----------------------------------------------------------------------------------------------------

    _PUT_NODE = """
        insert into code_nodes (project, key, type, name, file, first_line, last_line, digest)
        values (?, ?, ?, ?, ?, ?, ?, ?)
            on conflict (project, key) do update set type = excluded.type, name = excluded.name, file = excluded.file,
                first_line = excluded.first_line, last_line = excluded.last_line, digest = excluded.digest
    """
    _OF_FILE = "select id, key from code_nodes where project = :project and file = :file"
    _DROP_NODE = "delete from code_nodes where id = ?"
    _DROP_NODE_EDGES = (
        "delete from code_edges where target = ?",
        "delete from code_edges where source = ?",
    )

    def put_nodes(self, nodes: Sequence[Node]) -> None:
        self._engine.execute_many(self._PUT_NODE, [(self._project, *node) for node in nodes])

    def replace_nodes(self, file: str, nodes: Sequence[Node]) -> None:
        """Let these be the nodes of a file: known ones keep their number, those gone take their edges along."""
        wanted = {node.key for node in nodes}
        gone = [
            (id,) for id, key in self._engine.rows(self._OF_FILE, {**self._mine, "file": file}) if key not in wanted
        ]
        for statement in self._DROP_NODE_EDGES:
            self._engine.execute_many(statement, gone)
        self._engine.execute_many(self._DROP_NODE, gone)
        self.put_nodes(nodes)

    _NODE = "select id, key, type, name, file, first_line, last_line, digest from code_nodes where project = :project"
    _BY_KEY = f"{_NODE} and key = any(:values)"
    _BY_ID = f"{_NODE} and id = any(:values)"
    _IN_FILES = f"{_NODE} and file = any(:values) order by file, first_line, key"
    _NAMED = f"{_NODE} and name = :name and file <> '' order by key"
    _HASHED = f"{_NODE} and digest = any(:values) and digest <> '' order by key"
    _ENDING = f"{_NODE} and key like :tail escape '\\' order by length(key), key limit 6"

    def by_key(self, keys: Iterable[str]) -> dict[str, int]:
        """The numbers of nodes."""
        return {row[1]: row[0] for row in self._listed(self._BY_KEY, keys)}

    _NUMBERS = "select key, id from code_nodes where project = :project"

    def numbers(self) -> dict[str, int]:
        """The numbers of all nodes."""
        return dict(self._engine.rows(self._NUMBERS, self._mine))

    def nodes(self, ids: Iterable[int]) -> dict[int, Node]:
        return {row[0]: Node(*row[1:]) for row in self._listed(self._BY_ID, ids)}

    def node(self, key: str) -> Node | None:
        return next((Node(*row[1:]) for row in self._listed(self._BY_KEY, [key])), None)

    def in_files(self, files: Iterable[str]) -> dict[int, Node]:
        """Files and their symbols, by file and line."""
        return {row[0]: Node(*row[1:]) for row in self._listed(self._IN_FILES, files)}

    def named(self, name: str) -> list[Node]:
        """Symbols whose own name, without what is around it, is this one."""
        return [Node(*row[1:]) for row in self._engine.rows(self._NAMED, {**self._mine, "name": name})]

    def hashed(self, digests: Iterable[str]) -> list[Node]:
        """Symbols with one of these texts, whatever they are called and wherever they are."""
        return [Node(*row[1:]) for row in self._listed(self._HASHED, digests)]

    def ending_in(self, tail: str) -> list[Node]:
        """The nodes whose key ends so, at most six; for people who do not type whole paths."""
        if len(tail) > _MAX_TAIL or "\0" in tail:  # SQLite would take it for the end of the pattern
            return []
        escaped = tail.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return [Node(*row[1:]) for row in self._engine.rows(self._ENDING, {**self._mine, "tail": f"%{escaped}"})]

    # --- edges ----------------------------------------------------------------------------------------------------

    _PUT_EDGE = """
        insert into code_edges (project, source, target, type, weight, confidence, layer, origin, owner, stale)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
            on conflict (target, source, type) do update set weight = excluded.weight,
                confidence = greatest(code_edges.confidence, excluded.confidence), layer = excluded.layer,
                owner = excluded.owner, stale = 0,
                origin = case when excluded.confidence >= code_edges.confidence then excluded.origin
                              else code_edges.origin end
    """

    def put_edges(self, edges: Iterable[EdgeRow], owners: Sequence[int] | int, numbers: Mapping[str, int]) -> None:
        """Add edges read from a file (`owners`: one for all, or one each); those to unknown nodes are left out."""
        rows = []
        for place, edge in enumerate(edges):
            source, target = numbers.get(edge.source), numbers.get(edge.target)
            if source is not None and target is not None:
                owner = owners if isinstance(owners, int) else owners[place]
                rows.append((self._project, source, target, *edge[2:], owner))
        self._engine.execute_many(self._PUT_EDGE, rows)

    _DROP_EDGES = "delete from code_edges where owner = ?"
    _DROP_OWN_WANTS = "delete from code_wants where owner = ?"

    def drop_edges(self, owners: Iterable[int]) -> None:
        """Remove all that was read from some files, but not their nodes."""
        rows = [(owner,) for owner in owners]
        self._engine.execute_many(self._DROP_EDGES, rows)
        self._engine.execute_many(self._DROP_OWN_WANTS, rows)

    _STALE = "update code_edges set stale = 1 where owner in (select id from code_nodes where key = ? and project = ?)"

    def mark_stale(self, paths: Iterable[str]) -> None:
        """From now on nobody sees the edges read from these files, until they are read again."""
        self._engine.execute_many(self._STALE, [(path, self._project) for path in paths])

    _FRESH = "update code_edges set stale = 0 where owner in (select id from code_nodes where key = ? and project = ?)"

    def mark_fresh(self, paths: Iterable[str]) -> None:
        """These files turned out to say what they said before."""
        self._engine.execute_many(self._FRESH, [(path, self._project) for path in paths])

    _UPGRADE = """
        update code_edges set origin = 'scip', confidence = 1.0 where source = ? and target = ? and origin = 'ast'
    """

    def upgrade(self, pairs: Iterable[tuple[int, int]]) -> None:
        """An exact index confirms these: they are sure now."""
        self._engine.execute_many(self._UPGRADE, list(pairs))

    _GUESSES = """
        delete from code_edges where owner = any(:owners) and origin = 'ast'
           and confidence <= :guessed
    """

    def drop_guesses(self, owners: Sequence[int], *, guessed: float = 0.5) -> int:
        """Remove what was only guessed about some files; how many edges that were."""
        return self._engine.execute(self._GUESSES, {"owners": list(owners), "guessed": guessed})

    _INTO = """
        select e.target, e.source, e.type, e.weight * e.confidence from code_edges e
         where e.target = any(:values) and e.stale = 0 and e.confidence >= :least
    """
    _OUT_OF = """
        select e.source, e.target, e.type, e.weight * e.confidence from code_edges e
         where e.source = any(:values) and e.stale = 0 and e.confidence >= :least
    """

    def into(self, ids: Sequence[int], *, least: float = 0.0) -> list[Touching]:
        """Edges that end in these nodes, seen from them: who depends on them. Stale ones are not there."""
        return self._touching(self._INTO, ids, least)

    def out_of(self, ids: Sequence[int], *, least: float = 0.0) -> list[Touching]:
        """Edges that begin in these nodes: what they depend on."""
        return self._touching(self._OUT_OF, ids, least)

    def _touching(self, sql: str, ids: Sequence[int], least: float) -> list[Touching]:
        rows = self._engine.rows(sql, {"values": list(ids), "least": least})
        return cast("list[Touching]", rows)

    _EDGES = """
        select s.key, t.key, e.type, e.weight, e.confidence, e.layer, e.origin from code_edges e
          join code_nodes s on s.id = e.source join code_nodes t on t.id = e.target
         where e.project = :project and e.stale = 0 order by s.key, t.key, e.type
    """

    def edges(self) -> list[EdgeRow]:
        """Every edge that is not stale, in a total order."""
        return [EdgeRow(*row) for row in self._engine.rows(self._EDGES, self._mine)]

    _BETWEEN = """
        select a.file, b.file, count(*), sum(e.weight * e.confidence) from code_edges e
          join code_nodes a on a.id = e.source join code_nodes b on b.id = e.target
         where e.project = :project and e.stale = 0 and a.file <> b.file and b.file <> '' and a.file <> '' group by 1, 2
    """

    def between_files(self) -> list[tuple[str, str, int, float]]:
        """How strongly each file depends on each other one."""
        return [(a, b, count, weight) for a, b, count, weight in self._engine.rows(self._BETWEEN, self._mine)]

    _BESIDE = """
        select distinct b.file from code_nodes a
          join code_edges e on e.source = a.id and e.stale = 0
          join code_nodes b on b.id = e.target
         where a.project = :project and a.file = any(:values) and b.file <> a.file and b.file <> ''
        union
        select distinct b.file from code_nodes a
          join code_edges e on e.target = a.id and e.stale = 0
          join code_nodes b on b.id = e.source
         where a.project = :project and a.file = any(:values) and b.file <> a.file and b.file <> ''
    """

    def beside(self, files: Sequence[str]) -> list[str]:
        """The files one edge away from some files, in either direction."""
        return sorted(row[0] for row in self._listed(self._BESIDE, files))

    _COUNTS = """
        select (select count(*) from code_files where project = :project and reason = ''),
               (select count(*) from code_nodes where project = :project),
               (select count(*) from code_edges where project = :project and stale = 0),
               (select count(*) from code_edges where project = :project and stale = 1)
    """

    def counts(self) -> tuple[int, int, int, int]:
        """Parsed files, nodes, edges in force, stale edges."""
        row = self._engine.row(self._COUNTS, self._mine)
        return (0, 0, 0, 0) if row is None else (row[0], row[1], row[2], row[3])

    _COUNT_STALE = "select count(*) from code_edges where project = :project and stale = 1"

    def stale(self) -> int:
        """How many edges wait to be read again."""
        row = self._engine.row(self._COUNT_STALE, self._mine)
        return 0 if row is None else int(row[0])

    # --- who has to be asked again --------------------------------------------------------------------------------

    _PUT_WANT = "insert into code_wants (project, name, owner) values (?, ?, ?) on conflict do nothing"

    def put_wants(self, wants: Iterable[tuple[str, int]]) -> None:
        self._engine.execute_many(self._PUT_WANT, [(self._project, *want) for want in wants])

    _DEPENDING = """
        select distinct o.key from code_nodes t join code_edges e on e.target = t.id join code_nodes o on o.id = e.owner
         where t.project = :project and t.file = any(:values)
    """
    _WANTING = """
        select distinct o.key from code_wants w join code_nodes o on o.id = w.owner
         where w.project = :project and w.name = any(:values)
    """
    _USING = """
        select distinct o.key from code_nodes t join code_edges e on e.target = t.id join code_nodes o on o.id = e.owner
         where t.project = :project and t.name = any(:values)
    """

    def depending(self, files: Iterable[str]) -> set[str]:
        """Files from which an edge into one of these was read."""
        return {row[0] for row in self._listed(self._DEPENDING, files)}

    def looking_for(self, names: Iterable[str]) -> set[str]:
        """Files that looked for one of these names in vain, or found another bearer of it."""
        names = list(names)
        return {row[0] for row in (*self._listed(self._WANTING, names), *self._listed(self._USING, names))}

    # --- what git tells -------------------------------------------------------------------------------------------

    _CLEAR_COCHANGE = "delete from code_cochange where project = :project"
    _CLEAR_CHURN = "delete from code_churn where project = :project"
    _PUT_COCHANGE = "insert into code_cochange (project, near, far, weight, times) values (?, ?, ?, ?, ?)"
    _PUT_CHURN = "insert into code_churn (project, path, commits, rate, heat) values (?, ?, ?, ?, ?)"

    def replace_history(
        self, cochange: Iterable[tuple[str, str, float, int]], churn: Iterable[tuple[str, int, float, float]]
    ) -> None:
        """Let this be what history says: which files change together, and how often each changes."""
        self._engine.execute(self._CLEAR_COCHANGE, self._mine)
        self._engine.execute(self._CLEAR_CHURN, self._mine)
        self._engine.execute_many(self._PUT_COCHANGE, [(self._project, *pair) for pair in cochange])
        self._engine.execute_many(self._PUT_CHURN, [(self._project, *file) for file in churn])

    _COCHANGED = """
        select far, max(weight), max(times) from code_cochange
         where project = :project and near = any(:values) group by far order by max(weight) desc, far
    """
    _CHURN = "select path, commits, rate from code_churn where project = :project and path = any(:values)"

    def cochanged(self, files: Sequence[str]) -> list[tuple[str, float, int]]:
        """Files that changed together with these, strongest first: (file, weight, commits)."""
        rows = self._engine.rows(self._COCHANGED, {**self._mine, "values": list(files)})
        return [(path, weight, times) for path, weight, times in rows if path not in files]

    _HOT = "select path, heat from code_churn where project = :project and heat >= :least"

    def hot(self, *, least: float = 0.05) -> dict[str, float]:
        """Files that were touched by one of the last commits, with how lately that was, from 0 to 1."""
        return dict(self._engine.rows(self._HOT, {**self._mine, "least": least}))

    def churn(self, files: Sequence[str]) -> dict[str, tuple[int, float]]:
        """How often files changed: (commits, changes per day lately)."""
        return {row[0]: (row[1], row[2]) for row in self._listed(self._CHURN, files)}

    _DANGLES = "source not in (select id from code_nodes) or target not in (select id from code_nodes)"
    _DANGLING = f"select count(*) from code_edges where {_DANGLES}"

    def dangling(self) -> int:
        """How many edges end in nothing; in a sound graph none does."""
        row = self._engine.row(self._DANGLING)
        return 0 if row is None else int(row[0])

    _MEND = f"delete from code_edges where {_DANGLES}"

    def mend(self) -> None:
        """Remove edges that end in nothing. What is missing comes back with the next full index."""
        self._engine.execute(self._MEND)

    def _listed(self, sql: str, values: Iterable[object]) -> Iterator[Row]:
        for some in chunks(list(values), _STEP):
            yield from self._engine.rows(sql, {**self._mine, "values": some})


def _packed(outline: str | None) -> bytes | None:
    return None if outline is None else zlib.compress(outline.encode("utf-8", "surrogatepass"), 1)
