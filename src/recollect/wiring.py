"""The composition root: configuration in, a ready Recollect out. The only place that knows concrete classes."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.app import Recollect
from recollect.config import Settings, load_settings
from recollect.core.errors import StoreError, UnknownChoice
from recollect.core.ids import new_id
from recollect.core.kinds import Kinds
from recollect.core.ports import Changes, Channel, Clock, Identity, Reranker
from recollect.files.project import FOLDER, find_root, store_path, user_store_path
from recollect.recall.channels.keyword import KeywordChannel
from recollect.recall.recall import RetrievalContext
from recollect.recall.recipes import RECIPES, SMALL_MODELS, Recipe, Tier
from recollect.store.open import open_store
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.agent.chats import Chats
    from recollect.agent.methodology import Methodology
    from recollect.core.ports import Chore
    from recollect.dialogue.room import Room
    from recollect.embed.port import Embedder
    from recollect.entities.pipeline import Finder
    from recollect.models.port import LanguageModel, Model
    from recollect.recall.channels.dense import DenseChannel

MEMORY = ":memory:"
PERSONAL = ":personal:"
NAMES = ("auto", "rules", "spacy", "llm", "spacy+llm")  # who finds names at night


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    read_only: bool = False,
    project: str | None = None,
    actor: str | None = None,
    settings: Settings | None = None,
    personal: bool = False,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    model: LanguageModel | None = None,
    clock: Clock | None = None,
    identity: Identity = new_id,
) -> Recollect:
    """Open a memory: a database file, a project directory, `":memory:"`, or nothing for the project you are in.

    `PERSONAL` names the person's own file; with `personal=True` its memories are recalled beside the project's.
    """
    file = locate(path)
    chosen = settings or load_settings(None if file is None else file.parent)
    if chosen.recipe not in RECIPES:
        raise UnknownChoice("recipe", chosen.recipe, RECIPES)
    kinds = kinds_of(chosen)
    store = open_store(
        file,
        kinds,
        create=create,
        read_only=read_only,
        project=project,
        name=lambda: _name_project(file),
        patience=chosen.busy_timeout,
    )
    recipe = RECIPES[chosen.recipe]
    beside, trouble = _personal(kinds, read_only=read_only) if personal and file != user_store_path() else (None, ())
    channels: list[Channel] = [KeywordChannel(store, recipe)]
    if beside is not None:
        channels.append(KeywordChannel(beside, recipe, name="personal", another=True))
    notes: tuple[str, ...] = ()
    if embedder is None:
        embedder, notes = _embedder(chosen.embedder, store, clock or _now)
    dense = None if embedder is None else _dense(store, embedder, recipe)
    if dense is not None:
        channels.append(dense)
    missing: tuple[str, ...] = ()
    if reranker is None:
        reranker, missing = _reranker(chosen.reranker)
    if store.names_entities():
        channels.append(_entities(store, recipe))
    clock, who = clock or _now, actor or chosen.actor or _login()
    governed = _governed(store, chosen, clock, model)
    senses = RetrievalContext(
        channels=channels,
        kinds=kinds,
        recipe=recipe,
        store=store,
        dense=dense,
        tier=_tier(embedder),
        reranker=reranker,
        writer=None if governed is None else partial(governed, "widen", None),
        changes=_changes(file),
        notes=(*notes, *missing, *trouble),
    )

    def room() -> Room:
        if not any(channel.name == "entity" for channel in channels):
            channels.append(_entities(store, recipe))  # from the first conversation on, people can be asked about
        return _dialogue(store, senses, chosen, clock=clock, identity=identity, actor=who, model=governed)

    see_code = partial(_see_code, store, channels)
    if store.has_observed():
        senses = _see_company(store, senses)
    memory = Recollect(
        store,
        see_code(senses) if store.has_code() else senses,
        clock=clock,
        identity=identity,
        actor=who,
        personal=beside,
        embedder=embedder,
        commit=partial(_commit, file),
        documents=chosen.documents,
        see_code=see_code,
        dialogue=room,
        model=governed,
        chores=lambda: _chores(room(), embedder, memory.observer.chores()),
        chats=lambda: _chats(room(), chosen, embedder, model),
        methodology=partial(_methodology, chosen.methodology),
    )
    return memory


def _methodology(name: str) -> Methodology:
    from recollect.registry import methodology

    return methodology(name)


def _see_code(store: Store, channels: list[Channel], senses: RetrievalContext) -> RetrievalContext:
    """Recall with the code graph: a channel, neighbours for the boost, anchors. Only where source code was indexed."""
    if senses.neighbourhood is not None:
        return senses
    from recollect.code.anchor import CodeAnchors
    from recollect.code.channel import CodeCompanions, CodeNeighbourhood, CodeVolatility, GraphChannel

    channels.append(GraphChannel(store, depth=senses.recipe.depth["graph"]))
    return replace(
        senses,
        neighbourhood=CodeNeighbourhood(store),
        companions=senses.companions or CodeCompanions(store),
        anchors=CodeAnchors(store),
        volatility=CodeVolatility(store),
    )


def _see_company(store: Store, senses: RetrievalContext) -> RetrievalContext:
    """Recall with what agents were seen to use together, seeded by commits. Only where somebody was watched."""
    from recollect.observer.companions import SeenTogether

    return replace(senses, companions=SeenTogether(store))


def _entities(store: Store, recipe: Recipe) -> Channel:
    from recollect.recall.channels.entity import EntityChannel

    return EntityChannel(store, recipe)


def _chats(room: Room, settings: Settings, embedder: Embedder | None, model: LanguageModel | None) -> Chats:
    """Conversations with any provider and any model that can be named."""
    from recollect.agent.chats import Chats
    from recollect.registry import provider, providers

    def asked(setting: str | None) -> Model | None:
        """The model a chat names, on the same budget; without a name the configured one."""
        if setting is None:
            return _governed(room.store, settings, room.clock, model)
        return _governed(room.store, replace(settings, model=setting), room.clock, None)

    return Chats(
        room,
        embedder=embedder,
        provider=provider,
        offers=providers,
        model=asked,
        usual=settings.memory,
        options={"semantic_recall": settings.semantic_recall},
    )


def _governed(store: Store, settings: Settings, clock: Clock, model: LanguageModel | None) -> Model | None:
    """The language model that is configured, on its budget; for each feature and session one."""
    if model is None and settings.model == "none":
        return None
    from recollect.models.budget import Caps, Governed
    from recollect.models.choose import choose

    caps = Caps(settings.tokens_per_day, settings.tokens_per_session)

    def governed(feature: str, session: str | None) -> LanguageModel:
        """Chosen when first needed: a setting that is wrong must not keep anyone from speaking."""
        inner = model or choose(settings.model, timeout=settings.model_timeout)
        return Governed(inner, store.spend, caps, clock, feature, session)

    return governed


def _dialogue(
    store: Store,
    senses: RetrievalContext,
    settings: Settings,
    *,
    clock: Clock,
    identity: Identity,
    actor: str,
    model: Model | None,
) -> Room:
    """The room of conversations."""
    from recollect.dialogue.room import Room
    from recollect.entities.pipeline import Pipeline

    finders = Pipeline(_finders(settings.names, model))
    return Room(store, senses, clock, identity, actor, finders=finders, model=model)


def _finders(setting: str, model: Model | None) -> dict[str, Finder]:
    """Who finds names at night beyond the two that are always there."""
    if setting not in NAMES:
        raise UnknownChoice("names", setting, NAMES)
    found: dict[str, Finder] = {}
    if "spacy" in setting or setting == "auto":
        from recollect.entities.spacy import SpacyFinder, installed

        if "spacy" in setting or installed() is not None:
            found["spacy"] = SpacyFinder()
    if "llm" in setting and model is not None:
        from recollect.entities.llm import ModelFinder

        found["llm"] = ModelFinder(model("enrichment", None))
    return found


def _chores(room: Room, embedder: Embedder | None, observed: list[Chore]) -> list[Chore]:
    """Every chore there is, in the order they run."""
    from recollect.agent.settle import SettleChore
    from recollect.dialogue.consolidate import ConsolidateChore
    from recollect.dialogue.enrich import EnrichChore
    from recollect.dialogue.reflect import ReflectChore
    from recollect.tend.evict import EvictChore
    from recollect.tend.prune import PruneChore

    chores: list[Chore] = [
        EnrichChore(room),
        ConsolidateChore(room),
        ReflectChore(room),
        *observed,
        PruneChore(room.store, room.clock, room.identity),
        EvictChore(room.store, room.clock),
        SettleChore(room.store, room.clock, room.identity, room.actor),
    ]
    if embedder is not None:
        from recollect.tend.vectors import VectorChore

        chores.append(VectorChore(room.store, embedder, room.clock))
    return chores


def _embedder(setting: str, store: Store, clock: Clock) -> tuple[Embedder | None, tuple[str, ...]]:
    """The embedder that is asked for, and what to say when it cannot be had. Nothing heavy is loaded yet."""
    home = user_store_path().parent
    untouched = "RECOLLECT_MODELS" not in os.environ and not os.path.isdir(home / "models")
    if setting == "none" or (setting == "auto" and untouched):
        return None, ()
    from recollect.embed.cached import CachedEmbedder
    from recollect.embed.ladder import Here, choose
    from recollect.embed.packs import models_folder
    from recollect.store.cache import EmbeddingCache

    choice = choose(setting, Here(models_folder(home)))
    if choice.embedder is None:
        return None, choice.notes if setting != "auto" else ()
    return CachedEmbedder(choice.embedder, EmbeddingCache(store.engine, clock)), choice.notes


def _reranker(setting: str) -> tuple[Reranker | None, tuple[str, ...]]:
    """The reranker that is asked for, and what to say when it cannot be had. None is loaded yet."""
    if setting == "none":
        return None, ()
    from recollect.embed.packs import models_folder
    from recollect.models.rerank.choose import Here, choose

    choice = choose(setting, Here(models_folder(user_store_path().parent)))
    return choice.reranker, choice.notes


def _commit(file: Path | None) -> str | None:
    from recollect.files.commit import current_commit  # only those who remember something about files pay

    return None if file is None or file.parent.name != FOLDER else current_commit(file.parent.parent)


def _changes(file: Path | None) -> Changes | None:
    """The work tree beside the store; a store elsewhere has none."""
    root = None if file is None or file.parent.name != FOLDER else file.parent.parent
    if root is None or not os.path.exists(root / ".git"):
        return None
    from recollect.files.changes import GitChanges

    return GitChanges(root)


def _dense(store: Store, embedder: Embedder, recipe: Recipe) -> DenseChannel:
    from recollect.recall.channels.dense import DenseChannel

    return DenseChannel(store, embedder, recipe)


def _tier(embedder: Embedder | None) -> Tier:
    if embedder is None:
        return "none"
    return "small" if embedder.model in SMALL_MODELS else "strong"


def _personal(kinds: Kinds, *, read_only: bool) -> tuple[Store | None, tuple[str, ...]]:
    """The person's own store, if they have one. Trouble with it is told and keeps nobody from answering."""
    path = user_store_path()
    if not os.path.exists(path):  # False, not an error, when the home directory cannot be read
        return None, ()
    try:
        return open_store(path, kinds, create=False, read_only=read_only), ()
    except StoreError as error:
        return None, (f"personal: {error}",)


def kinds_of(settings: Settings) -> Kinds:
    """The kinds of the chosen methodology. The shipped one adds none, so it need not be loaded for that."""
    if settings.methodology == "native":
        return Kinds()
    from recollect.registry import methodology

    return Kinds(methodology(settings.methodology).kinds)


def locate(path: str | os.PathLike[str] | None) -> Path | None:
    """The file meant by `path`; nothing for a memory that lives and dies with the process."""
    if path is None:
        return store_path(find_root(Path.cwd()))
    if os.fspath(path) == MEMORY:
        return None
    if os.fspath(path) == PERSONAL:
        return user_store_path()
    given = Path(path)
    return store_path(given) if os.path.isdir(given) else given


def _name_project(file: Path | None) -> str:
    if file is None:
        return "default"
    if file == user_store_path():
        return "personal"
    from recollect.files.identity import identify  # asks git: only when a store is made

    return identify(file.parent.parent if file.parent.name == FOLDER else file.parent)


def _now() -> datetime:
    return datetime.now(UTC)


def _login() -> str:
    return os.environ.get("USER") or os.environ.get("USERNAME") or "someone"
