"""The story of an index: survey → parse → keep passages → resolve → write the graph. Incremental by content.

Passages are kept while files are still being parsed; the graph follows in one transaction, and a file counts as read
only from then on. Whoever is killed in between loses nothing but time: the next run finds its passages unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recollect.code.languages import language_of
from recollect.code.outline import Outline, from_json
from recollect.code.passages import cut, document_of
from recollect.code.resolve.calls import named_in, resolve
from recollect.code.resolve.names import Names
from recollect.code.resolve.tree import Named, Target, Tree, stem_of
from recollect.code.survey import MANIFEST, Survey, glance, survey
from recollect.code.workers import Parsed, Unparsed, Wanted, Workers
from recollect.code.write import beyond_names, folders_of, keys_of, nodes_of, put_resolved, shape_of
from recollect.core.ports import Identity
from recollect.files.walk import Found
from recollect.remember.act import ActContext
from recollect.remember.passages import Cut, replace_passages
from recollect.store.graph import FileRow
from recollect.store.store import Store

Progress = Callable[[str, int, int], None]

_TOGETHER = 200  # files whose passages go into one transaction
_RESOLVED = 500  # files whose edges are written at once
_MANY = 200  # changed files from which on everything is resolved anew rather than what is affected
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
    resolved: int = 0  # files whose edges were made anew
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
        return from_json(self.packed[path]) if path in self.packed else None


def quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def index(
    root: Path,
    store: Store,
    hand: ActContext,
    *,
    identity: Identity,
    workers: Workers,
    full: bool = False,
    only: Sequence[str] | None = None,
    passages: bool = True,
    progress: Progress = quiet,
) -> Indexed:
    """Bring graph and passages in step with the files below `root`. What cannot be read is reported, not raised.

    `only` these files may have changed, as an editor or a watcher knows; the rest of the tree is not looked at.
    """
    graph = store.graph
    known = graph.files()
    seen = (glance(root, known, only) if only is not None else None) or survey(root, known, thorough=full)
    suspect = [one.relative for one in seen.changed if one.relative in known]
    if suspect or seen.gone:
        with store.engine.write():
            graph.mark_stale([*suspect, *seen.gone])
    read = _Read(skipped=[(one.relative, one.reason) for one in seen.skipped])
    keeper = _Keeper(store, hand, identity, enabled=passages)
    places = {one.relative: one for one in seen.changed}
    for number, one in enumerate(workers.parse([_wanted(found) for found in seen.changed], chunks=passages), start=1):
        _take(one, places[one.file], known.get(one.file), read, keeper, full=full)
        progress("parsed", number, len(places))
    keeper.finish(seen.gone)
    read.passages = keeper.added
    count = _write(root, store, seen, known, read, full=full, progress=progress)
    return _report(seen, known, read, count)


def _wanted(found: Found) -> Wanted:
    return Wanted(found.relative, found.path, language_of(found.relative) or "")


def _take(
    one: Parsed | Unparsed, place: Found, before: FileRow | None, read: _Read, keeper: _Keeper, *, full: bool
) -> None:
    """Sort one answer of the workers in, and hand its chunks on."""
    language = language_of(one.file) or ""
    if isinstance(one, Unparsed):
        read.skipped.append((one.file, one.reason))
        read.rows[one.file] = FileRow(one.file, language, "", place.mtime_ns, place.size, one.reason)
        keeper.keep(Cut(document_of(one.file), ()))
        return
    row = FileRow(one.file, language, one.digest, place.mtime_ns, place.size, "", shape_of(one.outline))
    if before is not None and before.digest == one.digest and not before.reason and not full:
        read.same.append(row)
        return
    read.rows[one.file] = row
    read.packed[one.file] = one.outline.to_json()
    if len(read.whole) < _KEPT:
        read.whole[one.file] = one.outline
    keeper.keep(cut(one.file, one.chunks, screened=one.clean))


class _Keeper:
    """Keeps passages in transactions of a fair size."""

    def __init__(self, store: Store, hand: ActContext, identity: Identity, *, enabled: bool) -> None:
        self._store, self._hand, self._identity = store, hand, identity
        self._enabled = enabled
        self._waiting: list[Cut] = []
        self.added = 0

    def keep(self, one: Cut) -> None:
        self._waiting.append(one)
        if len(self._waiting) >= _TOGETHER:
            self._flush()

    def finish(self, gone: Sequence[str]) -> None:
        for path in gone:
            self.keep(Cut(document_of(path), ()))
        self._flush()

    def _flush(self) -> None:
        if self._waiting and self._enabled:
            kept = replace_passages(self._waiting, self._store, self._hand, identity=self._identity)
            self.added += sum(one.added for one in kept)
        self._waiting = []


def _write(
    root: Path,
    store: Store,
    seen: Survey,
    known: dict[str, FileRow],
    read: _Read,
    *,
    full: bool,
    progress: Progress,
) -> int:
    """The graph in one transaction: nobody sees half of it. How many files were resolved."""
    graph = store.graph
    with store.engine.write():
        graph.mark_fresh([row.path for row in read.same])
        graph.touch(read.same)
        graph.put_files((row, None) for row in seen.rules)
        ruled = bool(seen.rules) or any(known[path].reason == MANIFEST for path in seen.gone)
        if not read.rows and not seen.gone and not ruled:
            return 0
        many = full or ruled or len(read.rows) > _MANY
        affected = set() if many else _affected(store, known, read, seen.gone)
        graph.drop_files(seen.gone)
        graph.put_files((row, read.packed.get(path)) for path, row in read.rows.items())
        graph.put_nodes(folders_of(read.rows))
        for path in read.rows:
            graph.replace_nodes(path, nodes_of(path, read.outline(path)))
        files = {path: row.language for path, row in {**known, **read.rows}.items() if not row.reason}
        files = {path: language for path, language in files.items() if path not in set(seen.gone)}
        todo = sorted(files) if many else sorted((affected | set(read.rows)) & set(files))
        skipped = [path for path, row in read.rows.items() if row.reason]
        graph.drop_edges(graph.by_key([*todo, *skipped]).values())
        _resolve(
            Tree(files, _loader(store, read), _namer(store, files), _reader(root), seen.manifests),
            store,
            todo,
            progress,
        )
        return len(todo)


def _resolve(tree: Tree, store: Store, todo: Sequence[str], progress: Progress) -> None:
    names = Names(tree)
    numbers = store.graph.numbers() if len(todo) > _MANY else {}
    for done, some in enumerate(_slices(todo, _RESOLVED)):
        resolved = {path: resolve(path, tree, names) for path in some}
        unknown = [key for key in keys_of(resolved) if key not in numbers]
        numbers.update(store.graph.by_key(unknown))
        put_resolved(store.graph, resolved, numbers)
        progress("resolved", min((done + 1) * _RESOLVED, len(todo)), len(todo))


def _affected(store: Store, known: dict[str, FileRow], read: _Read, gone: Iterable[str]) -> set[str]:
    """The files, beside those that changed, whose edges may be other ones now."""
    names: set[str] = set()
    files: list[str] = []
    for path in (*read.rows, *gone):
        before, now = known.get(path), read.rows.get(path)
        if before is not None and now is not None and before.shape == now.shape and before.reason == now.reason:
            continue
        old = _stored(store, path)
        new = read.outline(path)
        if old is None or new is None or beyond_names(old) != beyond_names(new) or _changed_kind(old, new):
            files.append(path)
        names |= (named_in(old) if old else set()) ^ (named_in(new) if new else set())
        if before is None or now is None or before.reason != now.reason:  # a module of that name appeared or went
            names |= {stem_of(path), *path.split("/")[:-1]}
        names |= {outside for one in (old, new) if one for _, outside in one.exports}
    return (store.graph.depending(files) | store.graph.looking_for(names)) - set(gone)


def _changed_kind(old: Outline, new: Outline) -> bool:
    """Whether a symbol that stays is something else now: another type, another result."""
    before = {one.name: (one.type, one.returns) for one in old.symbols}
    return any(before.get(one.name, (one.type, one.returns)) != (one.type, one.returns) for one in new.symbols)


def _stored(store: Store, path: str) -> Outline | None:
    text = store.graph.outline(path)
    return None if text is None else from_json(text)


def _loader(store: Store, read: _Read) -> Callable[[str], Outline | None]:
    return lambda path: read.outline(path) if path in read.rows else _stored(store, path)


def _namer(store: Store, files: dict[str, str]) -> Callable[[str], Sequence[Named]]:
    known: dict[str, list[Named]] = {}

    def named(name: str) -> Sequence[Named]:
        if name not in known:
            known[name] = [
                Named(Target(node.file, node.key[len(node.file) + 1 :]), node.type, files.get(node.file, ""))
                for node in store.graph.named(name)
                if node.type != "file"
            ]
        return known[name]

    return named


def _reader(root: Path) -> Callable[[str], str]:
    def read(relative: str) -> str:
        try:
            with open(root / relative, "rb") as file:
                return file.read(_MANIFEST).decode("utf-8", "replace")
        except OSError:  # gone since the survey: as if it said nothing
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
