"""What has changed in the source tree since it was last read, once or as people type. Reads names and times only."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TypeVar

from recollect.code.languages import language_of
from recollect.files.walk import Found, Skipped, walk
from recollect.privacy.scan import redact, scan
from recollect.store.graph import FileRow, Graph

# What others made: vendored, bundled and generated files say nothing about this project.
NOT_OURS = (
    "vendor/", "third_party/", "bower_components/", "site-packages/", "*.min.js", "*.bundle.js", "*-min.js",
    "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h", "*.generated.*", "*.g.cs",
)  # fmt: skip
NO_GRAMMAR = "no grammar"  # how the reason begins that a later installation can remove
MANIFEST = "manifest"  # why it is not parsed: it tells how names are found
MANIFESTS = frozenset({"go.mod", "package.json", "Cargo.toml", "jsconfig.json"})


@dataclass(slots=True)
class Survey:
    """The tree as it is, against what is known of it."""

    changed: list[Found] = field(default_factory=list)  # new, or written since
    unchanged: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    manifests: list[str] = field(default_factory=list)
    rules: list[FileRow] = field(default_factory=list)  # manifests that are new or say something else now
    skipped: list[Skipped] = field(default_factory=list)


def survey_tree(root: Path, known: Mapping[str, FileRow], *, thorough: bool = False) -> Survey:
    """Walk the tree. A file of the same size and time as before is taken as unchanged, unless `thorough`."""
    found = Survey()
    seen: set[str] = set()
    for one in walk(root, extra_ignores=NOT_OURS, wanted=_is_wanted):
        if isinstance(one, Skipped):
            found.skipped.append(one)
        elif scan(one.relative):
            found.skipped.append(Skipped(redact(one.relative).text, "its name holds a secret"))
        elif language_of(one.relative) is None:
            seen.add(one.relative)
            found.manifests.append(one.relative)
            rule = FileRow(one.relative, "", "", one.mtime_ns, one.size, MANIFEST)
            if known.get(one.relative) != rule:
                found.rules.append(rule)
        else:
            seen.add(one.relative)
            row = known.get(one.relative)
            same = row is not None and (row.mtime, row.size) == (one.mtime_ns, one.size)
            if same and not thorough and not (row and row.reason.startswith(NO_GRAMMAR)):
                found.unchanged.append(one.relative)
            else:
                found.changed.append(one)
    found.gone = sorted(set(known) - seen)
    return found


def survey_files(root: Path, known: Mapping[str, FileRow], paths: Sequence[str]) -> Survey | None:
    """The same for a few files that are known already, without a walk; nothing when one of them is new."""
    found = Survey(manifests=[path for path, row in known.items() if row.reason == MANIFEST])
    for path in dict.fromkeys(paths):
        row = known.get(path)
        if row is None or row.reason == MANIFEST:
            return None
        place = root / path
        try:
            seen = place.lstat()
        except OSError:
            found.gone.append(path)
            continue
        if stat.S_ISREG(seen.st_mode):
            found.changed.append(Found(str(place), path, seen.st_size, seen.st_mtime_ns))
        else:
            found.gone.append(path)
    return found


def _is_wanted(relative: str) -> bool:
    name = relative.rpartition("/")[2]
    return language_of(relative) is not None or name in MANIFESTS or is_config(name)


def is_config(name: str) -> bool:
    return name.startswith("tsconfig") and name.endswith(".json")


# --- while people type ----------------------------------------------------------------------------------------------

Result = TypeVar("Result")  # of an index

DEBOUNCE = 0.5  # seconds of quiet before files are read: an editor writes several at once
_SHARE = 10  # the pause is so many times as long as a look takes
MIN_PAUSE = 0.25  # seconds

Changes = frozenset[tuple[str, int, int]]


def watch_tree(
    root: Path,
    graph: Graph,
    mark_stale: Callable[[Sequence[str]], None],
    reindex: Callable[[Sequence[str]], Result],
    *,
    stop: Event,
    debounce: float = DEBOUNCE,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Result]:
    """Yield what every index that a change brought about gave, until `stop` is set. Edges go stale at once.

    Looking means comparing sizes and times, so it works on every file system, containers and network drives included.
    The pause between two looks grows with what a look costs: watching never takes more than a small share of one core.
    """
    pending: Changes = frozenset()
    quiet_since = clock()
    while not stop.is_set():
        began = clock()
        now = find_changes(root, graph)
        if now != pending:
            stale = {path for path, _, _ in now - pending}
            mark_stale(sorted(stale))
            pending, quiet_since = now, clock()
        elif pending and clock() - quiet_since >= debounce:
            done = reindex(sorted({path for path, _, _ in pending}))
            pending = find_changes(root, graph)
            quiet_since = clock()
            yield done
        stop.wait(max(MIN_PAUSE, _SHARE * (clock() - began)) if not pending else MIN_PAUSE)


def find_changes(root: Path, graph: Graph) -> Changes:
    """What differs from the graph right now: (file, time, size); a file that is gone has neither."""
    seen = survey_tree(root, graph.files())
    return frozenset(
        [(one.relative, one.mtime_ns, one.size) for one in seen.changed]
        + [(rule.path, rule.mtime, rule.size) for rule in seen.rules]
        + [(path, 0, 0) for path in seen.gone]
    )
