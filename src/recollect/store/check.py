"""Checking: is every row sound, is the log whole, does every projection match the rows? Changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from recollect.core.errors import MemoryClosed, RecollectError, StoreDamaged
from recollect.store.memories import facets
from recollect.store.meta import FILE, Meta
from recollect.store.proof import differences, prove
from recollect.store.store import Store

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. `projection` faults are mended by rebuilding, others need salvage or a backup."""

    area: str  # file, rows, links, tombstones, documents, log, entities, turns, observed, keywords, vectors, graph …
    problem: str
    projection: bool = False


@dataclass(slots=True)
class CheckReport:
    """What was looked at and what was found."""

    memories: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.findings


def check(store: Store, *, quick: bool = False, progress: Progress = lambda area, n: None) -> CheckReport:
    """Look at everything: the file's structure, each row's checksum, the log's chain, projections against rows."""
    report = CheckReport()
    if store.memories.has_hidden():  # rows, log and indexes agree again when it is done
        report.findings.append(Finding("erasure", "one was interrupted: run `recollect erase --resume`"))
        return report
    for area, look in (
        ("file", _file),
        ("rows", _rows),
        ("links", _links),
        ("documents", _documents),
        ("log", _log),
        ("entities", _entities),
        ("turns", _turns),
        ("observed", _observed),
    ):
        _guarded(area, look, store, report, progress)
    if not quick:
        for area, look in (
            ("keywords", _keywords),
            ("facets", _facets),
            ("vectors", _vectors),
            ("graph", _graph),
            ("code", _code),
            ("names", _names),
        ):
            _guarded(area, look, store, report, progress)
    return report


_PROJECTIONS = frozenset({"keywords", "facets", "vectors", "graph", "code", "names"})
Look = Callable[[Store, CheckReport, Progress], None]


def _guarded(area: str, look: Look, store: Store, report: CheckReport, progress: Progress) -> None:
    """A check that cannot even be carried out is a finding, not a crash."""
    try:
        look(store, report, progress)
    except MemoryClosed:
        raise
    except (RecollectError, ValueError, TypeError, KeyError) as error:
        report.findings.append(Finding(area, str(error), projection=area in _PROJECTIONS))


def _file(store: Store, report: CheckReport, progress: Progress) -> None:
    for fault in store.engine.check_structure():
        report.findings.append(Finding("file", fault, projection="keywords" in fault))


def _rows(store: Store, report: CheckReport, progress: Progress) -> None:
    for page in store.memories.every():
        report.memories += len(page.memories)
        progress("rows", len(page.memories))
        for id in page.damaged:
            report.findings.append(Finding("rows", f"{id} does not match its checksum"))


def _links(store: Store, report: CheckReport, progress: Progress) -> None:
    report.findings += [Finding("links", f"a link of {id} is damaged") for id in store.links.damaged()]
    report.findings += [Finding("tombstones", f"{id} is damaged") for id in store.tombstones.damaged()]
    report.findings += [Finding("meta", f"{name} is damaged") for name in Meta(store.engine, FILE).damaged()]


def _documents(store: Store, report: CheckReport, progress: Progress) -> None:
    report.findings += [Finding("documents", f"{what} is damaged") for what in store.documents.damaged()]


def _log(store: Store, report: CheckReport, progress: Progress) -> None:
    with store.engine.read():  # of one moment, while others write
        report.findings += [Finding("log", fault) for fault in store.log.verify()]
        proof = prove(store.engine)
        report.findings += [Finding("log", fault) for fault in proof.faults]
        report.findings += [Finding(area, problem) for area, problem in differences(store.engine, proof)]


def _entities(store: Store, report: CheckReport, progress: Progress) -> None:
    report.findings += [Finding("entities", f"{id} is damaged") for id in store.entities.damaged()]


def _turns(store: Store, report: CheckReport, progress: Progress) -> None:
    report.findings += [Finding("turns", f"{what} is damaged") for what in store.turns.damaged()]
    report.findings += [Finding("turns", f"{what} is damaged") for what in store.working.damaged()]


def _observed(store: Store, report: CheckReport, progress: Progress) -> None:
    report.findings += [Finding("observed", f"{what} is damaged") for what in store.observed.damaged()]


def _names(store: Store, report: CheckReport, progress: Progress) -> None:
    if not store.entities.names_match():
        report.findings.append(Finding("names", "the names of entities differ from the entities", projection=True))
    if unknown := store.sessions.unknown():
        report.findings.append(Finding("names", f"{unknown} session(s) are not registered", projection=True))


def _keywords(store: Store, report: CheckReport, progress: Progress) -> None:
    """FTS5 compares its index with the rows itself. It asks for a write, so a read-only store is only counted."""
    if store.engine.read_only:
        return
    try:
        with store.engine.write(durable=False):
            store.engine.keywords.verify()
    except StoreDamaged:
        report.findings.append(Finding("keywords", "the keyword index differs from the rows", projection=True))


_FACETS = "select project, facet, value, seq from facets"
_SEQS = "select id, seq from memories"


def _facets(store: Store, report: CheckReport, progress: Progress) -> None:
    seqs: dict[str, int] = {row[0]: row[1] for row in store.engine.rows(_SEQS)}
    wanted = {
        (memory.project, facet, value, seqs[memory.id])
        for page in store.memories.every()
        for memory in page.memories
        for facet, value in facets(memory)
    }
    if wanted != set(store.engine.rows(_FACETS)):
        report.findings.append(Finding("facets", "the facets differ from the rows", projection=True))


def _vectors(store: Store, report: CheckReport, progress: Progress) -> None:
    for space in store.vectors.spaces():
        faults = store.vectors.verify(space)
        report.findings += [Finding("vectors", f"{space.name}: {fault}", projection=True) for fault in faults]


def _graph(store: Store, report: CheckReport, progress: Progress) -> None:
    report.findings += [
        Finding("graph", f"{what}, which is no document", projection=True) for what in store.documents.strays()
    ]


def _code(store: Store, report: CheckReport, progress: Progress) -> None:
    if dangling := store.graph.dangling():
        report.findings.append(Finding("code", f"{dangling} edges of the code graph end in nothing", projection=True))
