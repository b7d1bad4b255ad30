"""Outlines → rows of the graph: nodes of a file, what others see of it, and the edges that resolution found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from recollect.code.outline import SCOPES_ONLY, Outline
from recollect.code.resolve.calls import Resolved
from recollect.code.weights import STRUCTURAL, WEIGHTS
from recollect.store.graph import EdgeRow, Graph, Node


def nodes_of(path: str, outline: Outline | None) -> list[Node]:
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


def folders_of(paths: Iterable[str]) -> list[Node]:
    """The folders that hold some files, and those above them. The root is "./"."""
    found: dict[str, Node] = {}
    for path in paths:
        parts = path.split("/")[:-1]
        for depth in range(len(parts) + 1):
            key = "/".join(parts[:depth]) + "/" if depth else "./"
            found.setdefault(key, Node(key, "directory", parts[depth - 1] if depth else ".", ""))
    return list(found.values())


def shape_of(outline: Outline) -> str:
    """A digest of all that resolving other files can depend on; moving lines and editing bodies leave it alone."""
    seen = blake2b(digest_size=8)
    for symbol in outline.symbols:
        seen.update(repr((symbol.name, symbol.type, symbol.parent, symbol.returns)).encode("utf-8", "surrogatepass"))
    seen.update(repr(beyond_names(outline)).encode("utf-8", "surrogatepass"))
    return seen.hexdigest()


def beyond_names(outline: Outline) -> tuple[object, ...]:
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


def put_resolved(graph: Graph, resolved: Mapping[str, Resolved], numbers: dict[str, int]) -> None:
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


def keys_of(resolved: Mapping[str, Resolved]) -> Sequence[str]:
    """Every node that some resolved files speak of, themselves included."""
    return list({key for one in resolved.values() for edge in one.edges for key in edge[:2]} | set(resolved))
