"""The composition root: configuration in, a ready Recollect out. The only place that knows concrete classes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.app import Recollect, mark_store
from recollect.config import LoadedSettings, Settings, load_settings
from recollect.core.doors import CHAT, CODE, CONSOLIDATION, DOCUMENTS, HOOK, OBSERVER, PYTHON, ActDoor, find_door
from recollect.core.errors import InvalidField, StoreError, StoreForeign, UnknownChoice, UnsafeFile
from recollect.core.ids import new_id
from recollect.core.kinds import Kinds
from recollect.core.ports import Changes, Channel, Clock, Identity, Reranker, quiet
from recollect.files.mark import StoreOrigin, foreign_notice, identify_file, is_personal
from recollect.files.plain import require_own_folder
from recollect.files.project import FOLDER, find_root, store_path, user_store_path
from recollect.recall.channels.keyword import KeywordChannel
from recollect.recall.reader import Reader, RetrievalContext
from recollect.recall.recipes import RECIPES, SMALL_MODELS, Recipe, Tier
from recollect.recall.tiktoken import BestTokenizer
from recollect.remember.writer import VectorMaker, Writer
from recollect.store.meta import FILE, Meta
from recollect.store.open import names_database, open_store
from recollect.store.pair import StorePair
from recollect.store.sqlite.place import was_made_here
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.agent.answer import Answerer
    from recollect.agent.chat import Chats
    from recollect.agent.context import AgentContext
    from recollect.agent.ingest import InjectionIngest
    from recollect.code.api import Code
    from recollect.core.drafts import Draft
    from recollect.core.people import Member
    from recollect.core.ports import Chore
    from recollect.core.query import Filter
    from recollect.dialogue.context import DialogueContext
    from recollect.documents.api import Docs
    from recollect.embed.port import Embedder
    from recollect.entities.finders import Finder
    from recollect.files.git import CommitMessage
    from recollect.models.port import LanguageModel, Model
    from recollect.observer.api import Observer
    from recollect.portable.move import MoveReport
    from recollect.recall.channels.dense import DenseChannel
    from recollect.remember.follow import FileFollower
    from recollect.review.api import Review
    from recollect.sync.api import Sync
    from recollect.team.api import Team

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
    door: str = PYTHON.name,
    settings: Settings | None = None,
    personal: bool = False,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    model: LanguageModel | None = None,
    clock: Clock | None = None,
    identity: Identity = new_id,
    adopt: bool = False,
) -> Recollect:
    """Open a memory: a database file, a project directory, `":memory:"`, the address of a PostgreSQL database
    (`postgresql://…`), or nothing for the project you are in.

    `PERSONAL` names the person's own file; with `personal=True` its memories are recalled beside the project's. `door`
    says where what is done comes in: `python` is the owner's program, and what it says is a person's word.
    `adopt=True` says that a store from elsewhere is yours, as `recollect trust adopt` does.
    """
    came_in_by = find_door(door)
    file = locate(path)
    if file is not None and file.parent.name == FOLDER and os.path.lexists(file.parent):
        _require_own_folder(file.parent)
    loaded = load_settings(None if file is None else file.parent) if settings is None else LoadedSettings(settings)
    chosen = loaded.settings
    if chosen.recipe not in RECIPES:
        raise UnknownChoice("recipe", chosen.recipe, RECIPES)
    kinds = kinds_of(chosen)
    before = None if file is None or not os.path.lexists(file) else identify_file(os.fspath(file))
    store = open_store(
        str(path) if is_on_server(path) else file,
        kinds,
        create=create,
        read_only=read_only,
        project=project,
        name=lambda: _name_project(file),
        timeout=chosen.busy_timeout,
        replica=chosen.replica_dsn,
    )
    beside, trouble = _personal(kinds, read_only=read_only) if personal and file != user_store_path() else (None, ())
    origin = _settle_origin(store, file, before)
    clock, who = clock or _now, actor or chosen.actor or _login()
    governed = _governed(store, chosen, clock, model, origin)
    notes: tuple[str, ...] = ()
    if embedder is None:
        embedder, notes = _embedder(chosen.embedder, store, clock)
    missing: tuple[str, ...] = ()
    if reranker is None:
        reranker, missing = _reranker(chosen.reranker)
    embedder, reranker = _withhold(embedder, reranker, store, origin)
    parts = _Parts(
        chosen,
        clock=clock,
        identity=identity,
        file=file,
        embedder=embedder,
        reranker=reranker,
        model=model,
        widen=None if governed is None else partial(governed, "widen", None),
        notes=(*notes, *missing, *trouble),
        origin=origin,
    )
    memory = parts.assemble(
        StorePair(store, beside), actor=who, door=came_in_by, notices=tuple(filter(None, [loaded.notice]))
    )
    if adopt:
        memory.adopt()
    return memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What a memory is put together from, beside its stores; for a member's sight of it once more."""

    settings: Settings = field(kw_only=False)
    clock: Clock
    identity: Identity
    file: Path | None
    embedder: Embedder | None
    reranker: Reranker | None
    model: LanguageModel | None
    widen: Callable[[], LanguageModel] | None
    notes: tuple[str, ...]
    origin: StoreOrigin

    def assemble(
        self,
        stores: StorePair,
        *,
        actor: str,
        door: ActDoor,
        notices: tuple[str, ...] = (),
        view_of: Recollect | None = None,
    ) -> Recollect:
        """Reader, Writer and rooms over some stores."""
        store = stores.project
        context = _live_context(
            stores,
            RECIPES[self.settings.recipe],
            self.embedder,
            reranker=self.reranker,
            writer=self.widen,
            changes=_changes(self.file),
            notes=self.notes,
            origin=self.origin,
        )
        writer = Writer(
            stores,
            clock=self.clock,
            identity=self.identity,
            actor=actor,
            door=door,
            tie=partial(_tie, store, self.file),
            vectors=None if self.embedder is None else _vector_maker(store, self.embedder),
        )
        reader = Reader(stores, context, clock=self.clock, follow_up=writer.follow_recall)
        rooms = WiredRooms(store, reader, writer, self)
        return Recollect(stores, reader, writer, rooms, origin=self.origin, notices=notices, view_of=view_of)


def migrate_store(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    project: str | None = None,
    rename: str | None = None,
    filter: Filter | None = None,
    personal: bool = True,
    trust: bool = False,
    dry_run: bool = False,
    actor: str | None = None,
    door: str = PYTHON.name,
    progress: Callable[[int, int], None] = quiet,
) -> list[MoveReport]:
    """Bring a store into another one, which is made if it is not there: every project of it, or one, under its own name
    or another. The source is only read; both sides are counted. Killed halfway, the same call goes on.

    A source that is foreign comes over as a stranger's, unless you `trust` it. Personal memories never go to a server.
    """
    reports: list[MoveReport] = []
    personal = personal and not names_database(os.fspath(target))
    with open(source, create=False, read_only=True, project=project) as first:
        home = first.store.file_project
        names = [project] if project else first.portability.projects() or [home]
    if rename is not None and len(names) > 1:
        raise InvalidField("as", "the source holds several projects", hint="Name one with --project.")
    for name in sorted(names, key=lambda one: one != home):
        with (
            open(source, create=False, read_only=True, project=name) as here,
            open(
                target,
                create=not dry_run,
                read_only=dry_run,
                project=rename or name,
                actor=actor,
                door=door,
            ) as there,
        ):
            reports.append(
                here.portability.move_to(
                    there.portability,
                    filter=filter,
                    personal=personal,
                    trust=trust,
                    dry_run=dry_run,
                    progress=progress,
                )
            )
    return reports


class WiredRooms:
    """Makes each room with the Reader, the Writer and its own tables. Nothing of a room is imported before it is asked
    for."""

    def __init__(self, store: Store, reader: Reader, writer: Writer, parts: _Parts) -> None:
        self._store = store
        self._reader = reader
        self._writer = writer
        self._parts = parts
        self._settings = parts.settings
        file = parts.file
        self._root = None if file is None or file.parent.name != FOLDER else file.parent.parent
        self._embedder = parts.embedder
        self._origin = parts.origin
        self._model = _governed(store, parts.settings, writer.clock, parts.model, parts.origin)
        self._follower: FileFollower | None = None

    def seen_by(self, member: Member, *, door: ActDoor, view_of: Recollect) -> Recollect:
        """The same memory in a member's sight, in their name."""
        stores = StorePair(self._store.seen_by(member))
        return self._parts.assemble(stores, actor=member.name, door=door, view_of=view_of)

    def team(self) -> Team:
        from recollect.team.api import Team

        store = self._store
        return Team(store.people, self._reader, self._writer, project=store.project, member=store.member)

    def through(self, reader: Reader, writer: Writer) -> WiredRooms:
        """The same rooms for what comes in by another door."""
        other = copy(self)
        other._reader, other._writer = reader, writer
        return other

    def follow_files(self) -> Sequence[str]:
        """Let memories follow files that were renamed since anybody asked last; a store elsewhere has none, and a
        foreign one is left as it came."""
        if self._root is None or self._origin.is_foreign:
            return ()
        if self._follower is None:
            from recollect.remember.follow import FileFollower

            self._follower = FileFollower(self._root, self._writer, self._meta())
        return self._follower.follow()

    def docs(self) -> Docs:
        from recollect.documents.api import Docs
        from recollect.documents.context import DocumentsContext

        store, settings = self._store, self._settings
        context = DocumentsContext(
            self._reader, self._writer.through(DOCUMENTS), store.documents, self._meta(), self._writer
        )
        return Docs(
            context, folder=store.engine.folder, settings=settings.documents, model=self._model_for("documents")
        )

    def code(self) -> Code:
        from recollect.code.api import Code

        return Code(
            self._store.graph,
            self._reader,
            self._writer.through(CODE),
            meta=self._meta(),
            root=self._root,
            model=self._model_for("code"),
        )

    def dialogue(self) -> DialogueContext:
        from recollect.dialogue.context import DialogueContext
        from recollect.entities.finders import Pipeline

        return DialogueContext(
            self._reader,
            self._writer,
            self._store.sessions,
            self._store.entities,
            finders=Pipeline(_finders(self._settings.names, self._model)),
            model=self._model,
        )

    def observer(self) -> Observer:
        from recollect.observer.api import Observer
        from recollect.observer.context import ObserverContext, Snapshots

        self.follow_files()  # what is learnt now is about files as they are called now
        store = self._store
        own = store.project == store.file_project  # a hook reads the project its store belongs to
        context = ObserverContext(
            self._reader,
            self._writer.through(OBSERVER),
            store.observed,
            snapshots=Snapshots(store.meta, store.set_meta) if own else None,
            project_files=lambda: list(store.graph.files()) if store.has_code() else (),
            cochanged=store.graph.cochanged,
            model=self._model,
            messages=self._commit_messages,
        )
        return Observer(
            context,
            folder=store.engine.folder,
            is_persons=self._writer.door.is_persons,
            ingest=self.injections().ingest,
        )

    def review(self) -> Review:
        from recollect.review.api import Review

        return Review(self._reader, self._writer, self._store.observed)

    def injections(self) -> InjectionIngest:
        from recollect.agent.ingest import InjectionIngest

        folder = self._store.engine.folder
        return InjectionIngest(
            self._writer, self._store.injections, self._meta(), None if folder is None else os.fspath(folder)
        )

    def agent_context(self, observer: Observer) -> AgentContext:
        from recollect.agent.context import AgentContext
        from recollect.registry import methodology
        from recollect.store.codec import to_ms
        from recollect.store.hook_reader import HookReader

        engine, writer = self._store.engine, self._writer.through(HOOK)

        def hook_reader() -> HookReader:
            self.follow_files()
            return HookReader(engine.rows, engine.keywords, now=to_ms(writer.now()))

        return AgentContext(
            self._reader,
            writer,
            self.injections(),
            hook_reader=hook_reader,
            methodology=methodology(self._settings.methodology),
            origin=self._origin,
            root=self._root,
            observer=observer,
        )

    def answerer(self) -> Answerer:
        from recollect.agent.answer import Answerer

        return Answerer(self._reader, self._model_for("ask"))

    def chats(self) -> Chats:
        """Conversations with any provider and any model that can be named."""
        from recollect.agent.chat import Chats
        from recollect.agent.providers import ProviderContext
        from recollect.registry import provider, providers

        store, settings = self._store, self._settings
        context = ProviderContext(
            self._reader,
            self._writer.through(CHAT),
            store.turns,
            store.working,
            store.sessions,
            self.dialogue(),
            embed_waiting=None if self._embedder is None else partial(self._embed_waiting, self._embedder),
            options={"semantic_recall": settings.semantic_recall},
        )
        return Chats(context, provider=provider, offers=providers, model=self._model_named, default=settings.memory)

    def chores(self, observer: Observer) -> list[Chore]:
        """Every chore there is, in the order they run."""
        from recollect.agent.ingest import SettleChore
        from recollect.dialogue.consolidate import ConsolidateChore
        from recollect.dialogue.people import EnrichChore
        from recollect.dialogue.reflect import ReflectChore
        from recollect.tend.expiry import EvictChore, PruneChore

        store, clock = self._store, self._writer.clock
        dialogue = replace(self.dialogue(), writer=self._writer.through(CONSOLIDATION))
        chores: list[Chore] = [
            EnrichChore(dialogue),
            ConsolidateChore(dialogue),
            ReflectChore(dialogue),
            *observer.chores(),
            PruneChore(store, clock, self._writer.identity),
            EvictChore(store, clock),
            SettleChore(self.injections()),
        ]
        if self._root is not None:
            from recollect.tend.freshness import FreshnessChore

            chores.append(FreshnessChore(store, self._root, clock, self._writer.identity))
        if self._embedder is not None:
            from recollect.tend.vectors import VectorChore

            chores.append(VectorChore(store, self._embedder, clock))
        if (sync := self.sync()).is_set:
            chores.append(sync.chore())
        return chores

    def sync(self) -> Sync:
        from recollect.sync.api import Sync, SyncSettings

        chosen = self._settings
        settings = SyncSettings(chosen.sync_server, chosen.sync_token, chosen.sync_mode)
        return Sync(self._store, self._writer, settings, self._origin)

    def _commit_messages(self) -> Sequence[CommitMessage]:
        """Of the project's last commits; a store elsewhere has none."""
        if self._root is None or not os.path.exists(self._root / ".git"):
            return ()
        from recollect.files.git import read_messages

        return read_messages(self._root)

    def _meta(self) -> Meta:
        return Meta(self._store.engine, self._store.project)

    def _model_for(self, feature: str) -> Callable[[], LanguageModel] | None:
        """The configured language model, on the budget of one feature."""
        return None if self._model is None else partial(self._model, feature, None)

    def _model_named(self, setting: str | None) -> Model | None:
        """The model a chat names, on the same budget; without a name the configured one."""
        if setting is None:
            return self._model
        settings = replace(self._settings, model=setting)
        return _governed(self._store, settings, self._writer.clock, None, self._origin)

    def _embed_waiting(self, embedder: Embedder, limit: int) -> None:
        from recollect.tend.vectors import follow

        follow(self._store, embedder, now=self._writer.now(), most=limit)


def _live_context(
    stores: StorePair,
    recipe: Recipe,
    embedder: Embedder | None,
    *,
    reranker: Reranker | None,
    writer: Callable[[], LanguageModel] | None,
    changes: Changes | None,
    notes: tuple[str, ...],
    origin: StoreOrigin,
) -> Callable[[], RetrievalContext]:
    """What recall works with, asked again for each question: names, what agents were seen to do and the code graph
    join as soon as the store has any, whoever wrote them."""
    store = stores.project
    channels: list[Channel] = [KeywordChannel(store, recipe)]
    if stores.personal is not None:
        channels.append(KeywordChannel(stores.personal, recipe, name="personal", another=True))
    dense = None if embedder is None else _dense(store, embedder, recipe)
    if dense is not None:
        channels.append(dense)
    current = RetrievalContext(
        channels=tuple(channels),
        kinds=store.kinds,
        recipe=recipe,
        store=store,
        dense=dense,
        tier=_tier(embedder),
        reranker=reranker,
        writer=writer,
        changes=changes,
        tokenizer=BestTokenizer(),
        notes=notes,
    )
    waiting = {
        _see_names: store.names_entities,
        _see_states: store.tells_states,
        _see_co_change: store.has_observed,
        _see_code: store.has_code,
    }
    joining = threading.Lock()

    def context() -> RetrievalContext:
        nonlocal current
        if waiting:
            with joining:
                for join in [join for join, is_there in waiting.items() if is_there()]:
                    current = join(store, current)
                    del waiting[join]
        doubt = origin.doubt
        return replace(current, notes=(*current.notes, foreign_notice(doubt))) if doubt else current

    return context


def _tie(store: Store, file: Path | None, draft: Draft) -> Draft:
    """A draft about a symbol is tied to its text, one about files to their commit: later changes can be noticed."""
    if draft.node and store.has_code():
        from recollect.code.recall import anchor_draft

        draft = anchor_draft(draft, store.graph)
    if not draft.files or draft.commit is not None:
        return draft
    commit = _commit(file)
    return draft if commit is None else replace(draft, commit=commit)


def _vector_maker(store: Store, embedder: Embedder) -> VectorMaker:
    from recollect.tend.vectors import VectorsAtOnce

    return VectorsAtOnce(store, embedder)


def _see_names(store: Store, context: RetrievalContext) -> RetrievalContext:
    """Recall by the names of people and things."""
    from recollect.recall.channels.entity import EntityChannel

    return replace(context, channels=(*context.channels, EntityChannel(store, context.recipe)))


def _see_states(store: Store, context: RetrievalContext) -> RetrievalContext:
    """Recall by what was stated of homes, jobs and tools."""
    from recollect.recall.channels.state import StateChannel

    return replace(context, channels=(*context.channels, StateChannel(store)))


def _see_co_change(store: Store, context: RetrievalContext) -> RetrievalContext:
    """Recall with what agents were seen to use together, seeded by commits."""
    from recollect.observer.file_prediction import ObservedCoChange

    return replace(context, co_change=ObservedCoChange(store.observed, store.graph.cochanged))


def _see_code(store: Store, context: RetrievalContext) -> RetrievalContext:
    """Recall with the code graph: a channel, neighbours for the boost, anchors."""
    from recollect.code.recall import CodeAnchors, CodeCoChange, CodeNeighbourhood, CodeVolatility, GraphChannel

    return replace(
        context,
        channels=(
            *context.channels,
            GraphChannel(store.graph, store.memories.page, store.kinds, depth=context.recipe.depth["graph"]),
        ),
        neighbourhood=CodeNeighbourhood(store.graph),
        co_change=context.co_change or CodeCoChange(store.graph),
        anchors=CodeAnchors(store.graph),
        volatility=CodeVolatility(store.graph),
    )


def _require_own_folder(folder: Path) -> None:
    """A project's folder of memories is really there: a link would lead to another project's."""
    try:
        require_own_folder(os.fspath(folder))
    except OSError:
        what = "a symbolic link" if folder.is_symlink() else "no folder of yours"
        raise UnsafeFile(str(folder), what, hint="Remove it, or name the real store with `--store`.") from None


def _settle_origin(store: Store, file: Path | None, before: str | None) -> StoreOrigin:
    """Whose the store is. Mark it as this person's when they have just made it, when it holds nothing yet, or when it
    was theirs in the file that our own upgrade of it has just replaced."""
    path = None if file is None else os.path.abspath(file)
    origin = StoreOrigin(path, Meta(store.engine, FILE).get)
    if path is None or store.engine.read_only or is_personal(path) or (before is not None and not origin.doubt):
        return origin
    if before is None or store.is_empty() or (before != identify_file(path) and origin.was_marked_in(before)):
        mark_store(store, origin)
    return origin


@contextmanager
def keep_mark(path: Path, backup: Path | None = None) -> Iterator[None]:
    """Around putting another file in the place of a store: what was this person's stays theirs, if what comes was made
    from that very file, or from an earlier one of theirs while this one can be seen to be theirs. A backup must have
    been made on this machine: the mark in it proves whose store it is a copy of, not who wrote its rows."""
    before = identify_file(os.fspath(path)) if os.path.lexists(path) else ""
    own = _is_own(path)
    made_here = backup is None or was_made_here(backup)
    yield
    if not made_here:
        return
    store = open_store(path, Kinds(), create=False)
    try:
        origin = StoreOrigin(os.path.abspath(path), Meta(store.engine, FILE).get)
        if origin.was_marked_in(before) or (own and origin.was_marked):
            mark_store(store, origin)
    finally:
        store.close()


def _is_own(path: Path) -> bool:
    try:
        return not doubt_of(path)
    except StoreError:  # damaged or gone: it cannot vouch for what takes its place
        return False


def doubt_of(path: Path) -> str:
    """Why the store in a file is not this person's; empty when it is."""
    store = open_store(path, Kinds(), create=False, read_only=True)
    try:
        return StoreOrigin(os.path.abspath(path), Meta(store.engine, FILE).get).doubt
    finally:
        store.close()


def _withhold(
    embedder: Embedder | None, reranker: Reranker | None, store: Store, origin: StoreOrigin
) -> tuple[Embedder | None, Reranker | None]:
    """Both, asked only while the store is this person's."""
    if embedder is None and reranker is None:
        return None, None
    from recollect.models.withhold import PermittedEmbedder, PermittedReranker

    permit = partial(_require_own, store, origin)
    return (
        None if embedder is None else PermittedEmbedder(embedder, permit, is_foreign=lambda: origin.is_foreign),
        None if reranker is None else PermittedReranker(reranker, permit),
    )


def _require_own(store: Store, origin: StoreOrigin) -> None:
    if doubt := origin.doubt:
        raise StoreForeign(store.engine.location, doubt)


def _governed(
    store: Store, settings: Settings, clock: Clock, model: LanguageModel | None, origin: StoreOrigin
) -> Model | None:
    """The language model that is configured, on its budget; for each feature and session one."""
    if model is None and settings.model == "none":
        return None
    from recollect.models.budget import Caps, Governed
    from recollect.models.choose import choose_model

    caps = Caps(settings.tokens_per_day, settings.tokens_per_session)

    def governed(feature: str, session: str | None) -> LanguageModel:
        """Chosen when first needed: a setting that is wrong must not keep anyone from speaking."""
        inner = model or choose_model(settings.model, timeout=settings.model_timeout)
        return Governed(inner, store.spend, caps, clock, feature, session, partial(_require_own, store, origin))

    return governed


def _finders(setting: str, model: Model | None) -> dict[str, Finder]:
    """Who finds names at night beyond the two that are always there."""
    if setting not in NAMES:
        raise UnknownChoice("names", setting, NAMES)
    found: dict[str, Finder] = {}
    if "spacy" in setting or setting == "auto":
        from recollect.entities.finders import SpacyFinder, installed_model

        if "spacy" in setting or installed_model() is not None:
            found["spacy"] = SpacyFinder()
    if "llm" in setting and model is not None:
        from recollect.entities.finders import ModelFinder

        found["llm"] = ModelFinder(model("enrichment", None))
    return found


def _embedder(setting: str, store: Store, clock: Clock) -> tuple[Embedder | None, tuple[str, ...]]:
    """The embedder that is asked for, and what to say when it cannot be had. Nothing heavy is loaded yet."""
    home = user_store_path().parent
    untouched = "RECOLLECT_MODELS" not in os.environ and not os.path.isdir(home / "models")
    if setting == "none" or (setting == "auto" and untouched):
        return None, ()
    from recollect.embed.cached import CachedEmbedder
    from recollect.embed.choose import Environment, choose_embedder
    from recollect.embed.packs import models_folder
    from recollect.store.cache import EmbeddingCache

    choice = choose_embedder(setting, Environment(models_folder(home)))
    if choice.embedder is None:
        return None, choice.notes if setting != "auto" else ()
    return CachedEmbedder(choice.embedder, EmbeddingCache(store.engine, store.project, clock)), choice.notes


def _reranker(setting: str) -> tuple[Reranker | None, tuple[str, ...]]:
    """The reranker that is asked for, and what to say when it cannot be had. None is loaded yet."""
    if setting == "none":
        return None, ()
    from recollect.embed.choose import Environment
    from recollect.embed.packs import models_folder
    from recollect.models.rerank import choose_reranker

    choice = choose_reranker(setting, Environment(models_folder(user_store_path().parent)))
    return choice.reranker, choice.notes


def _commit(file: Path | None) -> str | None:
    from recollect.files.git import current_commit  # only those who remember something about files pay

    return None if file is None or file.parent.name != FOLDER else current_commit(file.parent.parent)


def _changes(file: Path | None) -> Changes | None:
    """The work tree beside the store; a store elsewhere has none."""
    root = None if file is None or file.parent.name != FOLDER else file.parent.parent
    if root is None or not os.path.exists(root / ".git"):
        return None
    from recollect.files.work_tree import GitChanges

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


def is_on_server(path: str | os.PathLike[str] | None) -> bool:
    """Does `path` name a store on a database server?"""
    return isinstance(path, str) and names_database(path)


def locate(path: str | os.PathLike[str] | None) -> Path | None:
    """The file meant by `path`; nothing for a memory that lives and dies with the process, or is on a server."""
    if is_on_server(path):
        return None
    if path is None:
        return store_path(find_root(Path.cwd()))
    if os.fspath(path) == MEMORY:
        return None
    if os.fspath(path) == PERSONAL:
        return user_store_path()
    given = Path(path)
    return store_path(given) if os.path.isdir(given) else given


def name_store(path: str | os.PathLike[str] | None) -> str:
    """The one name of a store that holds wherever a process is started."""
    if isinstance(path, str) and names_database(path):
        return path
    file = locate(path)
    return MEMORY if file is None else os.path.realpath(file)


def _name_project(file: Path | None) -> str:
    if file is None:
        return "default"
    if file == user_store_path():
        return "personal"
    from recollect.files.git import identify_project  # asks git: only when a store is made

    return identify_project(file.parent.parent if file.parent.name == FOLDER else file.parent)


def _now() -> datetime:
    return datetime.now(UTC)


def _login() -> str:
    return os.environ.get("USER") or os.environ.get("USERNAME") or "someone"
