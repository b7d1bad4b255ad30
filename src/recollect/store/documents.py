"""The tables of the documents room: documents, their links, ranks and co-access. Decides nothing.

Every method that changes rows must run inside `engine.write()`. The words of a document are passages in `memories`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from recollect.core.digest import checksum
from recollect.core.documents import Document, DocumentLink, Related
from recollect.core.errors import StoreDamaged
from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine, Row, Value

_COLUMNS = (
    "id", "project", "path", "sha256", "title", "label", "type", "confidence", "created_at", "updated_at",
    "accessed_at", "access_count", "size", "mtime_ns", "seen_at", "passages", "state", "former",
)  # fmt: skip
_NAMES = ", ".join(_COLUMNS)


class Documents:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    # --- documents ------------------------------------------------------------------------------------------------

    _PUT = f"""
        insert into documents ({_NAMES}, checksum) values ({", ".join("?" * (len(_COLUMNS) + 1))})
            on conflict (id) do update set
            {", ".join(f"{name} = excluded.{name}" for name in (*_COLUMNS[1:], "checksum"))}
    """

    def put(self, documents: Sequence[Document]) -> None:
        """Add documents, or bring known ones up to date."""
        rows = [_row(document) for document in documents]
        self._engine.execute_many(self._PUT, [(*row, checksum(row)) for row in rows])

    _EVERY = f"select {_NAMES}, checksum from documents where project = :project order by path"

    def every(self) -> list[Document]:
        """All documents of a project, by path."""
        return [self._checked(row) for row in self._engine.rows(self._EVERY, {"project": self._project})]

    _BY_IDS = f"""
        select {_NAMES}, checksum from documents where id = any(:ids) and project = :project order by path
    """

    def by_ids(self, ids: Iterable[str]) -> dict[str, Document]:
        rows = self._engine.rows(self._BY_IDS, {"ids": sorted(set(ids)), "project": self._project})
        return {row[0]: self._checked(row) for row in rows}

    _BY_PATH = f"select {_NAMES}, checksum from documents where project = :project and path = :path"

    def by_path(self, path: str) -> Document | None:
        row = self._engine.row(self._BY_PATH, {"project": self._project, "path": path})
        return None if row is None else self._checked(row)

    _PLACED = """
        select id from documents
         where project = :project and state = 'live' and (cast(:label as text) is null or label = :label)
           and (cast(:type as text) is null or type = :type) order by id
    """

    def placed(self, *, label: str | None, type: str | None) -> list[str]:
        """The ids of documents of a label, of a type, or of both."""
        rows = self._engine.rows(self._PLACED, {"project": self._project, "label": label, "type": type})
        return [row[0] for row in rows]

    _REMOVE = (
        "delete from documents where id = :id",
        "delete from document_links where source = :id",
        "delete from document_ranks where document = :id",
        "delete from document_pairs where one = :id or other = :id",
        "update document_links set resolved = null where resolved = :id",
    )

    def remove(self, id: str) -> None:
        """Take a document out, with all that was known about it. Its passages are its owner's affair."""
        for statement in self._REMOVE:
            self._engine.execute(statement, {"id": id})

    # --- links and ranks ------------------------------------------------------------------------------------------

    _CLEAR_LINKS = "delete from document_links where source = :source"
    _ADD_LINK = """
        insert into document_links (project, source, position, target, kind, line, resolved)
        values (?, ?, ?, ?, ?, ?, ?)
    """

    def put_links(self, source: str, links: Sequence[DocumentLink]) -> None:
        """Replace what a document points at."""
        self._engine.execute(self._CLEAR_LINKS, {"source": source})
        self._engine.execute_many(
            self._ADD_LINK,
            [
                (self._project, source, position, link.target, link.kind, link.line, link.resolved)
                for position, link in enumerate(links, start=1)
            ],
        )

    _LINKS = """
        select l.source, l.target, l.kind, l.line, l.resolved from document_links l
          join documents d on d.id = l.source
         where l.project = :project order by l.source, l.line, l.position
    """

    def links(self) -> list[DocumentLink]:
        """Every reference of every document."""
        return [DocumentLink(*row) for row in self._engine.rows(self._LINKS, {"project": self._project})]

    _EDGES = """
        select distinct l.source, l.resolved from document_links l join documents d on d.id = l.source
         where d.project = :project and l.resolved is not null and l.resolved <> l.source
         order by l.source, l.resolved
    """

    def edges(self) -> list[tuple[str, str]]:
        """Which documents point at which, each pair once."""
        return [(row[0], row[1]) for row in self._engine.rows(self._EDGES, {"project": self._project})]

    _RESOLVE = "update document_links set resolved = ? where source = ? and target = ? and kind = ?"

    def resolve(self, links: Sequence[DocumentLink]) -> None:
        """Write down what some references come to now."""
        self._engine.execute_many(
            self._RESOLVE, [(link.resolved, link.source, link.target, link.kind) for link in links]
        )

    _IDS = "select id from documents where project = :project order by id"

    def ids(self) -> list[str]:
        return [row[0] for row in self._engine.rows(self._IDS, {"project": self._project})]

    _CLEAR_RANKS = "delete from document_ranks where project = :project"
    _ADD_RANK = """
        insert into document_ranks (project, document, rank) values (?, ?, ?)
            on conflict (document) do update set rank = excluded.rank
    """

    def put_ranks(self, ranks: Mapping[str, float]) -> None:
        """Replace the ranks of a project's documents; each is a share of the highest."""
        self._engine.execute(self._CLEAR_RANKS, {"project": self._project})
        self._engine.execute_many(self._ADD_RANK, [(self._project, *rank) for rank in ranks.items()])

    _RANKS = "select document, rank from document_ranks where document = any(:ids) and project = :project"

    def ranks(self, ids: Iterable[str]) -> dict[str, float]:
        return dict(self._engine.rows(self._RANKS, {"ids": sorted(set(ids)), "project": self._project}))

    # --- found together -------------------------------------------------------------------------------------------

    _PAIR = "select count from document_pairs where one = :one and other = :other"
    _PUT_PAIR = """
        insert into document_pairs (project, one, other, count, at, checksum)
        values (:project, :one, :other, :count, :at, :checksum)
            on conflict (one, other) do update
            set count = excluded.count, at = excluded.at, checksum = excluded.checksum
    """

    def count_pairs(self, pairs: Iterable[tuple[str, str]], at: datetime) -> None:
        """Count once more that the two documents of each pair were found together."""
        for one, other in pairs:
            first, second = sorted((one, other))
            known = self._engine.row(self._PAIR, {"one": first, "other": second})
            row = (self._project, first, second, (known[0] if known else 0) + 1, to_ms(at))
            self._engine.execute(
                self._PUT_PAIR,
                dict(zip(("project", "one", "other", "count", "at", "checksum"), (*row, checksum(row)), strict=True)),
            )

    _RELATED = """
        select project, one, other, count, at, checksum from document_pairs
         where project = :project and (one = :id or other = :id)
         order by count desc, at desc, one, other limit :limit
    """

    def related(self, id: str, *, limit: int) -> list[Related]:
        """The documents most often found together with one, the most frequent first."""
        rows = self._engine.rows(self._RELATED, {"id": id, "limit": limit, "project": self._project})
        if any(checksum(row[:-1]) != row[-1] for row in rows):
            raise StoreDamaged(self._engine.location, f"a pair of the document {id} does not match its checksum")
        others = [(row[2] if row[1] == id else row[1], row[3], from_ms(row[4])) for row in rows]
        documents = self.by_ids(other for other, _, _ in others)
        return [Related(documents[other], count, last) for other, count, last in others if other in documents]

    # --- care -----------------------------------------------------------------------------------------------------

    _ALL = f"select {_NAMES}, checksum from documents order by id"
    _ALL_PAIRS = "select project, one, other, count, at, checksum from document_pairs order by one, other"

    def damaged(self) -> list[str]:
        """What does not match its checksum."""
        found = [f"the document {row[2]}" for row in self._engine.rows(self._ALL) if checksum(row[:-1]) != row[-1]]
        pairs = self._engine.rows(self._ALL_PAIRS)
        return found + [f"the pair {row[1]}, {row[2]}" for row in pairs if checksum(row[:-1]) != row[-1]]

    _STRAYS = """
        select 'a link of ' || source from document_links where source not in (select id from documents)
        union select 'a link to ' || resolved from document_links
               where resolved is not null and resolved not in (select id from documents)
        union select 'the rank of ' || document from document_ranks where document not in (select id from documents)
        order by 1
    """
    _SWEEP = (
        "delete from document_links where source not in (select id from documents)",
        "update document_links set resolved = null where resolved not in (select id from documents)",
        "delete from document_ranks where document not in (select id from documents)",
    )

    def strays(self) -> list[str]:
        """Links and ranks of documents that are not there."""
        return [row[0] for row in self._engine.rows(self._STRAYS)]

    def sweep(self) -> None:
        for statement in self._SWEEP:
            self._engine.execute(statement)

    def _checked(self, row: Row) -> Document:
        *values, stored = row
        if checksum(values) != stored:
            raise StoreDamaged(self._engine.location, f"the document {values[2]} does not match its checksum")
        return _document(values)


def _row(document: Document) -> tuple[Value, ...]:
    return (
        document.id,
        document.project,
        document.path,
        document.sha256,
        document.title,
        document.label,
        document.type,
        document.confidence,
        to_ms(document.created_at),
        to_ms(document.updated_at),
        None if document.accessed_at is None else to_ms(document.accessed_at),
        document.access_count,
        document.size,
        document.mtime_ns,
        None if document.seen_at is None else to_ms(document.seen_at),
        document.passages,
        document.state,
        json.dumps(document.former) if document.former else None,
    )


def _document(values: Sequence[Value]) -> Document:
    value = dict(zip(_COLUMNS, values, strict=True))
    return Document(
        id=value["id"],
        project=value["project"],
        path=value["path"],
        sha256=value["sha256"],
        title=value["title"],
        label=value["label"],
        type=value["type"],
        confidence=value["confidence"],
        created_at=from_ms(value["created_at"]),
        updated_at=from_ms(value["updated_at"]),
        accessed_at=None if value["accessed_at"] is None else from_ms(value["accessed_at"]),
        access_count=value["access_count"],
        size=value["size"],
        mtime_ns=value["mtime_ns"],
        seen_at=None if value["seen_at"] is None else from_ms(value["seen_at"]),
        passages=value["passages"],
        state=value["state"],
        former=() if value["former"] is None else tuple(json.loads(value["former"])),
    )
