"""What the room of conversations works with: its numbers, named with unit and reason, and what the wiring hands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from recollect.core.entities import EntityId, Mention
from recollect.entities.finders import Pipeline
from recollect.entities.registry import link_entities
from recollect.models.port import Model
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.store.entities import Entities
from recollect.store.sessions import Sessions

# --- episodes ---
PART = 200_000  # characters of one episode; a longer message is kept in several, none of it lost
SESSION_NAME = 200  # characters of a session's id
ROLE_NAME = 100  # characters of a speaker's name

# --- consolidation ---
PAGE = 30  # episodes drawn from at once: what a small model can read, and what a kill may cost
SAME = 0.75  # shared share of telling words from which two facts say the same
REJECTED_SAME = 0.6  # the same against rejected facts drawn from the same episodes: a paraphrase must not slip by
CANDIDATES = 20  # stored facts a new one is compared with
LOST = 0.3  # confidence left to a fact that another one closed
FACT_LIMIT = 500  # characters of one fact: a statement, not a story
FACTS_A_PAGE = 60  # a model that finds more than two facts in every episode is rambling
GROUNDED = 0.5  # share of a fact's telling words that its episodes must hold

# --- context ---
CONTEXT_FACTS = 5
CONTEXT_KINDS = frozenset({"fact"})

# --- reflection ---
REFLECT_EVERY = timedelta(days=6)
REFLECT_OVER = timedelta(days=7)
REFLECT_LEAST = 3  # facts in that time, below which there is nothing to reflect on
REFLECT_MOST = 200  # items that are read

# --- enrichment ---
ENRICH_FEW = 2  # entities: with more, a memory is rich enough
ENRICH_BATCH = 50  # memories a run
ENRICH_KINDS = ("fact", "episode", "reflection", "decision", "preference")

# --- language model ---
EXTRACT_TOKENS = 1_500  # of one answer that lists facts
JUDGE_TOKENS = 600  # of one answer that settles conflicts
REFLECT_TOKENS = 800
MODEL_READS = 6_000  # characters of one episode that a model is shown


@dataclass(frozen=True, slots=True)
class DialogueContext:
    """Everything a part of the room may need. Cheap to make: models and finders load when first asked."""

    reader: Reader
    writer: Writer
    sessions: Sessions  # the room's own tables
    entities: Entities
    finders: Pipeline = field(default_factory=Pipeline)
    model: Model | None = None

    def link(self, mentions: Sequence[Sequence[Mention]]) -> list[tuple[EntityId, ...]]:
        """The entities of each text's mentions. Runs inside a transaction."""
        writer = self.writer
        return link_entities(
            mentions,
            self.entities,
            put=lambda found: writer.put_entities("find_entity", found),
            project=writer.project,
            now=writer.now(),
            identity=writer.identity,
        )
