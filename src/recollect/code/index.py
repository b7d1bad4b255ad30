"""The story of an index: survey → parse → keep passages → resolve → write the graph. Incremental by content.

Passages are kept while files are still being parsed; the graph follows in one transaction, and a file counts as read
only from then on. Whoever is killed in between loses nothing but time: the next run finds its passages unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import cast

from recollect.code.languages import language_of
from recollect.code.outline import SCOPES_ONLY, Chunk, Outline, read_outline
from recollect.code.resolve.edges import STRUCTURAL, WEIGHTS, Resolved, defined_names, resolve_file
from recollect.code.resolve.names import Names
from recollect.code.resolve.tree import Named, Target, Tree, stem_of
from recollect.code.survey import MANIFEST, Survey, survey_files, survey_tree
from recollect.code.workers import Parsed, Unparsed, Wanted, Workers
from recollect.core.drafts import Draft
from recollect.core.records import ChunkType, Span
from recollect.core.scope import Source
from recollect.files.plain import open_beneath
from recollect.files.walk import Found
from recollect.remember.passages import DocumentChunks
from recollect.remember.writer import Writer
from recollect.store.graph import EdgeRow, FileRow, Graph, Node

Progress = Callable[[str, int, int], None]

_TOGETHER = 200  # files whose passages go into one transaction
_RESOLVED = 500  # files whose edges are written at once
_MANY = 200  # changed files from which on everything is resolved again rather than what is affected
_KEPT = 5_000  # outlines held as objects during an index; the others are unpacked when needed
_MANIFEST = 1_000_000  # bytes of a manifest that are read
_SHORTEST_RENAME = 32  # bytes of a file that can be recognised under another name


@dataclass(frozen=True, slots=True)
class Indexed:
    """What an index did."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()  # (from, to)
    unchanged: int = 0
    resolved: int = 0  # files whose edges were made again
    passages: int = 0  # new ones
    skipped: tuple[tuple[str, str], ...] = ()  # (file, why)
    languages: tuple[tuple[str, int], ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.added or self.updated or self.removed)


@dataclass(slots=True)
class _Read:
    """What was read in this run."""

    rows: dict[str, FileRow] = field(default_factory=dict)
    packed: dict[str, str] = field(default_factory=dict)  # outlines as JSON
    whole: dict[str, Outline] = field(default_factory=dict)
    same: list[FileRow] = field(default_factory=list)  # written again with the same words
    skipped: list[tuple[str, str]] = field(default_factory=list)
    passages: int = 0

    def outline(self, path: str) -> Outline | None:
        if path in self.whole:
            return self.whole[path]
        return read_outline(self.packed[path]) if path in self.packed else None


def no_progress(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def index_tree(
    root: Path,
    graph: Graph,
    writer: Writer,
    *,
    workers: Workers,
    full: bool = False,
    only: Sequence[str] | None = None,
    passages: bool = True,
    progress: Progress = no_progress,
) -> Indexed:
    """Bring graph and passages in step with the files below `root`. What cannot be read is reported, not raised.

    `only` these files may have changed, as an editor or a watcher knows; the rest of the tree is not looked at.
    """
    known = graph.files()
    seen = (survey_files(root, known, only) if only is not None else None) or survey_tree(root, known, thorough=full)
    suspect = [one.relative for one in seen.changed if one.relative in known]
    if suspect or seen.gone:
        with writer.transaction():
            graph.mark_stale([*suspect, *seen.gone])
    read = _Read(skipped=[(one.relative, one.reason) for one in seen.skipped])
    keeper = _Keeper(writer, enabled=passages)
    places = {one.relative: one for one in seen.changed}
    for number, one in enumerate(workers.parse([_wanted(found) for found in seen.changed], chunks=passages), start=1):
        _sort_in(one, places[one.file], known.get(one.file), read, keeper, full=full)
        progress("parsed", number, len(places))
    keeper.finish(seen.gone)
    read.passages = keeper.added
    count = _write(root, graph, writer, seen, known, read, full=full, progress=progress)
    return _report(seen, known, read, count)


def _wanted(found: Found) -> Wanted:
    return Wanted(found.relative, found.root, language_of(found.relative) or "")


def _sort_in(
    one: Parsed | Unparsed, place: Found, before: FileRow | None, read: _Read, keeper: _Keeper, *, full: bool
) -> None:
    """Sort one answer of the workers in, and hand its chunks on."""
    language = language_of(one.file) or ""
    if isinstance(one, Unparsed):
        read.skipped.append((one.file, one.reason))
        read.rows[one.file] = FileRow(one.file, language, "", place.mtime_ns, place.size, one.reason)
        keeper.keep(DocumentChunks(document_name(one.file), ()))
        return
    row = FileRow(one.file, language, one.digest, place.mtime_ns, place.size, "", hash_shape(one.outline))
    if before is not None and before.digest == one.digest and not before.reason and not full:
        read.same.append(row)
        return
    read.rows[one.file] = row
    read.packed[one.file] = one.outline.to_json()
    if len(read.whole) < _KEPT:
        read.whole[one.file] = one.outline
    keeper.keep(build_passages(one.file, one.chunks, screened=one.clean))


class _Keeper:
    """Keeps passages in transactions of a fair size."""

    def __init__(self, writer: Writer, *, enabled: bool) -> None:
        self._writer, self._enabled = writer, enabled
        self._waiting: list[DocumentChunks] = []
        self.added = 0

    def keep(self, one: DocumentChunks) -> None:
        self._waiting.append(one)
        if len(self._waiting) >= _TOGETHER:
            self._flush()

    def finish(self, gone: Sequence[str]) -> None:
        for path in gone:
            self.keep(DocumentChunks(document_name(path), ()))
        self._flush()

    def _flush(self) -> None:
        if self._waiting and self._enabled:
            kept = self._writer.replace_passages(self._waiting)
            self.added += sum(replaced.added for replaced in kept)
        self._waiting = []


def _write(
    root: Path,
    graph: Graph,
    writer: Writer,
    seen: Survey,
    known: dict[str, FileRow],
    read: _Read,
    *,
    full: bool,
    progress: Progress,
) -> int:
    """The graph in one transaction: nobody sees half of it. How many files were resolved."""
    with writer.transaction():
        graph.mark_fresh([row.path for row in read.same])
        graph.touch(read.same)
        graph.put_files((row, None) for row in seen.rules)
        ruled = bool(seen.rules) or any(known[path].reason == MANIFEST for path in seen.gone)
        if not read.rows and not seen.gone and not ruled:
            return 0
        many = full or ruled or len(read.rows) > _MANY
        affected = set() if many else _affected(graph, known, read, seen.gone)
        graph.drop_files(seen.gone)
        graph.put_files((row, read.packed.get(path)) for path, row in read.rows.items())
        graph.put_nodes(list_folders(read.rows))
        for path in read.rows:
            graph.replace_nodes(path, list_nodes(path, read.outline(path)))
        files = {path: row.language for path, row in {**known, **read.rows}.items() if not row.reason}
        files = {path: language for path, language in files.items() if path not in set(seen.gone)}
        todo = sorted(files) if many else sorted((affected | set(read.rows)) & set(files))
        skipped = [path for path, row in read.rows.items() if row.reason]
        graph.drop_edges(graph.by_key([*todo, *skipped]).values())
        _resolve(
            Tree(files, _loader(graph, read), _namer(graph, files), make_manifest_reader(root), seen.manifests),
            graph,
            todo,
            progress,
        )
        return len(todo)


def _resolve(tree: Tree, graph: Graph, todo: Sequence[str], progress: Progress) -> None:
    names = Names(tree)
    numbers = graph.numbers() if len(todo) > _MANY else {}
    for done, some in enumerate(_slices(todo, _RESOLVED)):
        resolved = {path: resolve_file(path, tree, names) for path in some}
        unknown = [key for key in list_keys(resolved) if key not in numbers]
        numbers.update(graph.by_key(unknown))
        write_edges(graph, resolved, numbers)
        progress("resolved", min((done + 1) * _RESOLVED, len(todo)), len(todo))


def _affected(graph: Graph, known: dict[str, FileRow], read: _Read, gone: Iterable[str]) -> set[str]:
    """The files, beside those that changed, whose edges may be other ones now."""
    names: set[str] = set()
    files: list[str] = []
    for path in (*read.rows, *gone):
        before, now = known.get(path), read.rows.get(path)
        if before is not None and now is not None and before.shape == now.shape and before.reason == now.reason:
            continue
        old = _stored(graph, path)
        new = read.outline(path)
        if old is None or new is None or visible_facts(old) != visible_facts(new) or _changed_kind(old, new):
            files.append(path)
        names |= (defined_names(old) if old else set()) ^ (defined_names(new) if new else set())
        if before is None or now is None or before.reason != now.reason:  # a module of that name appeared or went
            names |= {stem_of(path), *path.split("/")[:-1]}
        names |= {outside for one in (old, new) if one for _, outside in one.exports}
    return (graph.depending(files) | graph.looking_for(names)) - set(gone)


def _changed_kind(old: Outline, new: Outline) -> bool:
    """Whether a symbol that stays is something else now: another type, another result."""
    before = {symbol.name: (symbol.type, symbol.returns) for symbol in old.symbols}
    return any(
        before.get(symbol.name, (symbol.type, symbol.returns)) != (symbol.type, symbol.returns)
        for symbol in new.symbols
    )


def _stored(graph: Graph, path: str) -> Outline | None:
    text = graph.outline(path)
    return None if text is None else read_outline(text)


def _loader(graph: Graph, read: _Read) -> Callable[[str], Outline | None]:
    return lambda path: read.outline(path) if path in read.rows else _stored(graph, path)


def _namer(graph: Graph, files: dict[str, str]) -> Callable[[str], Sequence[Named]]:
    known: dict[str, list[Named]] = {}

    def named(name: str) -> Sequence[Named]:
        if name not in known:
            known[name] = [
                Named(Target(node.file, node.key[len(node.file) + 1 :]), node.type, files.get(node.file, ""))
                for node in graph.named(name)
                if node.type != "file"
            ]
        return known[name]

    return named


def make_manifest_reader(root: Path) -> Callable[[str], str]:
    """What reads the manifests of a project: plain files below its root, as far as they are read."""

    def read(relative: str) -> str:
        try:
            with os.fdopen(open_beneath(str(root), relative), "rb") as file:
                return file.read(_MANIFEST).decode("utf-8", "replace")
        except OSError:  # gone since the survey, or a link now: as if it said nothing
            return ""

    return read


def _slices(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _report(seen: Survey, known: dict[str, FileRow], read: _Read, resolved: int) -> Indexed:
    added = [path for path in read.rows if path not in known]
    gone = [path for path in seen.gone if known[path].reason != MANIFEST]
    by_digest = {known[path].digest: path for path in seen.gone if known[path].size >= _SHORTEST_RENAME}
    renamed = [(by_digest[d], path) for path in added if (d := read.rows[path].digest) and d in by_digest]
    languages: dict[str, int] = {}
    for row in {**known, **read.rows}.values():
        if not row.reason and row.path not in seen.gone:
            languages[row.language] = languages.get(row.language, 0) + 1
    return Indexed(
        added=tuple(sorted(added)),
        updated=tuple(sorted(path for path in read.rows if path in known)),
        removed=tuple(gone),
        renamed=tuple(sorted(renamed)),
        unchanged=sum(row.reason != MANIFEST and path not in read.rows for path, row in known.items()) - len(gone),
        resolved=resolved,
        passages=read.passages,
        skipped=tuple(sorted(read.skipped)),
        languages=tuple(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
    )


# --- passages -------------------------------------------------------------------------------------------------------

PASSAGE_CONFIDENCE = 0.8  # where passages begin
_MAX_NAME_CHARS = 900  # characters of a name that is kept; longer ones are machine-made


def document_name(path: str) -> str:
    """The name of a source file among the documents."""
    return f"code:{path}"


def build_passages(path: str, chunks: Sequence[Chunk], *, screened: bool) -> DocumentChunks:
    """All passages of one file. Lines are in the span; the context names file and symbol, so that it holds when lines
    move and an unchanged passage keeps its row and its vectors."""
    return DocumentChunks(
        document_name(path),
        tuple(_passage_draft(path, chunk) for chunk in chunks if len(path) < _MAX_NAME_CHARS),
        screened,
    )


def _passage_draft(path: str, one: Chunk) -> Draft:
    name = one.name[:_MAX_NAME_CHARS]
    module = path.rpartition("/")[0]
    return Draft(
        one.text.replace("\0", ""),
        kind="passage",
        confidence=PASSAGE_CONFIDENCE,
        source=Source.INDEXED,
        files=(path,),
        modules=(module,) if module else (),
        node=f"{path}:{name}"[:_MAX_NAME_CHARS] if name else path,
        span=Span(cast(ChunkType, one.type), one.start, one.end, f"{path} | {name}" if name else path),
    )


# --- outlines as rows of the graph ----------------------------------------------------------------------------------


def list_nodes(path: str, outline: Outline | None) -> list[Node]:
    """The file itself and its symbols. Symbols of one name are one node: the first tells where, all tell what."""
    lines = max((symbol.end for symbol in outline.symbols), default=0) if outline else 0
    found = {path: Node(path, "file", path.rpartition("/")[2], path, 1, lines)}
    for symbol in outline.symbols if outline else ():
        if symbol.type in SCOPES_ONLY:
            continue
        key = f"{path}:{symbol.name}"
        known = found.get(key)
        if known is None:
            name = symbol.name.rpartition(".")[2]
            found[key] = Node(key, symbol.type, name, path, symbol.start, symbol.end, symbol.digest)
        else:
            both = blake2b(f"{known.digest}{symbol.digest}".encode(), digest_size=8).hexdigest()
            found[key] = known._replace(digest=both)
    return list(found.values())


def list_folders(paths: Iterable[str]) -> list[Node]:
    """The folders that hold some files, and those above them. The root is "./"."""
    found: dict[str, Node] = {}
    for path in paths:
        parts = path.split("/")[:-1]
        for depth in range(len(parts) + 1):
            key = "/".join(parts[:depth]) + "/" if depth else "./"
            found.setdefault(key, Node(key, "directory", parts[depth - 1] if depth else ".", ""))
    return list(found.values())


def hash_shape(outline: Outline) -> str:
    """A digest of all that resolving other files can depend on; moving lines and editing bodies leave it alone."""
    seen = blake2b(digest_size=8)
    for symbol in outline.symbols:
        seen.update(repr((symbol.name, symbol.type, symbol.parent, symbol.returns)).encode("utf-8", "surrogatepass"))
    seen.update(repr(visible_facts(outline)).encode("utf-8", "surrogatepass"))
    return seen.hexdigest()


def visible_facts(outline: Outline) -> tuple[object, ...]:
    """What others can depend on beside the symbols: told by name, because places move when symbols come and go."""

    def name(place: int) -> str:
        return outline.symbols[place].name if place >= 0 else ""

    typed = [one for one in outline.variables if one.scope < 0 or one.field or one.name.startswith(("self.", "this."))]
    return (
        [one._replace(scope=0) for one in outline.imports],
        [(name(one.symbol), one.name, one.relation) for one in outline.bases],
        [(name(one.scope), *one[1:]) for one in typed],
        outline.exports,
        outline.package,
    )


def write_edges(graph: Graph, resolved: Mapping[str, Resolved], numbers: dict[str, int]) -> None:
    """Write what some files depend on. `numbers` of nodes from outside are added as they are met."""
    outside = sorted({name for one in resolved.values() for name in one.outside})
    new = [f"external:{name}" for name in outside if f"external:{name}" not in numbers]
    if new:
        graph.put_nodes([Node(key, "external", key.partition(":")[2], "") for key in new])
        numbers.update(graph.by_key(new))
    edges: list[EdgeRow] = []
    owners: list[int] = []
    wants: list[tuple[str, int]] = []
    for path, one in resolved.items():
        owner = numbers[path]
        for (source, target, type), confidence in one.edges.items():
            layer = "structural" if type in STRUCTURAL else "semantic"
            edges.append(EdgeRow(source, target, type, WEIGHTS[type], round(confidence, 4), layer))
            owners.append(owner)
        wants += [(name, owner) for name in one.wants]
    graph.put_edges(edges, owners, numbers)
    graph.put_wants(wants)


def list_keys(resolved: Mapping[str, Resolved]) -> Sequence[str]:
    """Every node that some resolved files speak of, themselves included."""
    return list({key for one in resolved.values() for edge in one.edges for key in edge[:2]} | set(resolved))
