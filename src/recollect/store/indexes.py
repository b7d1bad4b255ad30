"""How engines make their indexes: over themselves, or over an engine that limits what is read. Each index is loaded
when the first of its kind is asked for."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from recollect.store.port import Engine, KeywordIndex, VectorIndex


class EngineIndexes(NamedTuple):
    """Where an engine's indexes are made, each as `module:name`."""

    keyword_index: str
    vector_index: str
    vector_tables: str

    def keywords(self, engine: Engine) -> KeywordIndex:
        made: KeywordIndex = _load(self.keyword_index)(engine)
        return made

    def vectors(self, engine: Engine, project: str) -> VectorIndex:
        made: VectorIndex = _load(self.vector_index)(engine, project)
        return made

    def create_vectors(self, engine: Engine) -> None:
        """Make the tables of the vector index, inside the current write."""
        _load(self.vector_tables)(engine)


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"recollect.store.{module}"), name)


class LazyIndexes:
    """The part of an engine that is the same on all: its keyword index and its vector indexes."""

    INDEXES: ClassVar[EngineIndexes]

    @property
    def indexes(self) -> EngineIndexes:
        return self.INDEXES

    @cached_property
    def keywords(self) -> KeywordIndex:
        return self.indexes.keywords(self)  # type: ignore[arg-type]  # an engine, once it is whole

    def vectors(self, project: str) -> VectorIndex:
        return self.indexes.vectors(self, project)  # type: ignore[arg-type]

    def create_vectors(self) -> None:
        self.indexes.create_vectors(self)  # type: ignore[arg-type]
