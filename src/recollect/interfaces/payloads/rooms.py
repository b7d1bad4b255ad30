"""What the rooms of documents and code find, as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.query import Hit
from recollect.interfaces.payloads.base import Json, filled, iso_time
from recollect.interfaces.payloads.memories import memory_json

if TYPE_CHECKING:
    from recollect.code.impact import Impact
    from recollect.code.modules import ModuleMap
    from recollect.core.documents import Document
    from recollect.documents.check import Checked, Conflict, Side
    from recollect.documents.search import Found


def document_json(document: Document) -> Json:
    return filled(
        {
            "id": document.id,
            "path": document.path,
            "title": document.title,
            "label": document.label,
            "type": document.type,
            "confidence": document.confidence,
            "created_at": iso_time(document.created_at),
            "updated_at": iso_time(document.updated_at),
            "accessed_at": iso_time(document.accessed_at),
            "access_count": document.access_count,
            "sha256": document.sha256,
            "size": document.size,
            "passages": document.passages,
            "former": list(document.former),
        }
    )


def checked_json(checked: Checked) -> Json:
    return {
        "ok": checked.ok,
        "conflicts": [_conflict(conflict) for conflict in checked.conflicts],
        "broken": [
            {"path": one.path, "line": one.line, "target": one.target, "problem": one.problem} for one in checked.broken
        ],
        "pairs": checked.pairs,
        "links": checked.links,
        "notes": list(checked.notes),
    }


def _conflict(one: Conflict) -> Json:
    return {
        "level": one.judgement.level,
        "score": one.judgement.score,
        "reasons": list(one.judgement.reasons),
        "claim": _side(one.claim),
        "known": _side(one.known),
    }


def _side(side: Side) -> Json:
    return {"path": side.path, "line": side.line, "name": side.name, "text": side.text}


def impact_json(found: Impact) -> Json:
    return {
        "target": found.target,
        "direction": found.direction,
        "depth": found.depth,
        "score": found.score,
        "left_out": found.left_out,
        "nodes": [
            {
                "node": one.node,
                "type": one.type,
                "file": one.file,
                "line": one.line,
                "depth": one.depth,
                "strength": one.strength,
                "path": [{"node": node, "edge": type} for node, type in one.path],
            }
            for one in found.nodes
        ],
        "files": [
            {"file": affected.file, "depth": affected.depth, "strength": affected.strength, "test": affected.test}
            for affected in found.files
        ],
        "tests": list(found.tests),
        "together": [{"file": file, "weight": weight, "commits": times} for file, weight, times in found.together],
        "memories": [{"id": memory.id, "kind": memory.kind, "content": memory.content} for memory in found.memories],
        "notes": list(found.notes),
    }


def map_json(found: ModuleMap) -> Json:
    return {
        "files": found.files,
        "nodes": found.nodes,
        "edges": found.edges,
        "languages": dict(found.languages),
        "modules": [
            {
                "path": module.path,
                "files": module.files,
                "symbols": module.symbols,
                "layer": module.layer,
                "role": module.role,
                "needs": [{"module": name, "weight": weight} for name, weight in module.needs],
                "needed_by": list(module.needed_by),
                "entries": list(module.entries),
                "changes": module.changes,
            }
            for module in found.modules
        ],
    }


def code_hit_json(hit: Hit) -> Json:
    span = hit.memory.span
    return {
        "id": hit.id,
        "node": hit.memory.node,
        "file": hit.memory.files[0] if hit.memory.files else None,
        "start": span.start if span else None,
        "end": span.end if span else None,
        "score": round(hit.score, 4),
        "content": hit.memory.content,
    }


def matches_json(found: Found) -> Json:
    return {
        "matches": [
            {
                "score": match.score,
                "relevance": match.relevance,
                "confidence": match.confidence,
                "rank": match.rank,
                "reasons": list(match.reasons),
                "document": document_json(match.document),
                "passage": memory_json(match.passage),
            }
            for match in found.matches
        ],
        "notes": list(found.notes),
    }
