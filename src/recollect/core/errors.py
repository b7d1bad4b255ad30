"""Every error Recollect raises on purpose.

RecollectError
├── InvalidInput      what you gave cannot be taken; nothing was changed
├── NotFound          what you named is not there
├── Refused           understood, and deliberately not done
├── Model…, Extra…    a language model did not answer, or not usably; a package is missing
└── StoreError        the file cannot be used as asked

Constructors take values and write the message, each class has a stable `code`, and the hint says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable

_MAX_MESSAGE = 1_000  # characters: a message repeats what was given, and that may be a megabyte


class RecollectError(Exception):
    """Root of the tree. `code` is stable across releases; `hint` tells a tired person what to do next."""

    code = "error"
    number: int | None = None  # which of several things that were given together it is about, from 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]} …")
        self.hint = hint


def name_place(error: RecollectError, index: int, of: int) -> None:
    """Say in an error which of several it is about."""
    if of > 1 and error.number is None:
        error.number = index + 1
        error.args = (f"Number {index + 1} of {of}: {error}",)


# --- what you gave cannot be taken ---------------------------------------------------------------------------------


class InvalidInput(RecollectError):
    code = "invalid-input"


class InvalidField(InvalidInput):
    """One named field holds a value outside its domain."""

    code = "invalid-field"

    def __init__(self, field: str, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{field}: {problem}.", hint=hint or "Nothing was changed. Fix it and try again.")
        self.field = field


class UnknownChoice(InvalidField):
    """A closed list was given a word that is not on it."""

    code = "unknown-choice"

    def __init__(self, field: str, given: str, allowed: Iterable[str]) -> None:
        names = sorted(allowed)
        super().__init__(field, f"{given!r} is not one of them", hint=f"Use one of: {', '.join(names)}.")


class EmptyContent(InvalidInput):
    code = "empty-content"

    def __init__(self) -> None:
        super().__init__("There is no visible text to remember.", hint="Pass the statement as an argument or on stdin.")


class ContentTooLarge(InvalidInput):
    code = "content-too-large"

    def __init__(self, *, size: int, limit: int) -> None:
        super().__init__(
            f"The content is {size:,} bytes; one memory holds at most {limit:,}.",
            hint="A memory is one statement. Split it, or keep the text in a file and remember what matters in it.",
        )


class InvalidText(InvalidInput):
    """Text that cannot be stored faithfully: NUL bytes or bytes that are not UTF-8."""

    code = "invalid-text"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}.", hint="Remove those bytes, or convert the text to UTF-8 first.")


class BadVector(InvalidInput):
    """A vector that has no direction, so that nothing can be near it."""

    code = "bad-vector"

    def __init__(self, what: str, problem: str) -> None:
        super().__init__(
            f"The vector of {what} {problem}.", hint="Nothing was changed. Look at the embedder: `recollect doctor`."
        )


class BadScip(InvalidInput):
    """A file that is no SCIP index, or a broken one."""

    code = "bad-scip"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} is no readable SCIP index: {why}.", hint="Nothing was changed. Make the index again.")


class InvalidExport(InvalidInput):
    """A file to import that was cut off, changed, made by something else or by a later release."""

    code = "invalid-export"

    def __init__(self, where: str, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{where}: {problem}.", hint=hint or "Nothing was imported. Export it again.")


# --- what you named is not there -----------------------------------------------------------------------------------


class CheckpointUnreadable(InvalidInput):
    """A checkpoint of the observer that was cut off, edited, or made by another version."""

    code = "checkpoint-unreadable"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The observer's checkpoint cannot be read: {why}.",
            hint="Start with an empty pad and replay the transcript; replaying twice changes nothing.",
        )


class NotFound(RecollectError):
    code = "not-found"


class NothingToObserve(NotFound):
    """No transcript is where one was asked for."""

    code = "nothing-to-observe"

    def __init__(self, where: str) -> None:
        super().__init__(
            f"There is no transcript at {where!r}.",
            hint="Name files, folders or patterns; Claude Code keeps its own under ~/.claude/projects, Codex under "
            "~/.codex/sessions.",
        )


class MemoryNotFound(NotFound):
    code = "memory-not-found"

    def __init__(self, id: str) -> None:
        super().__init__(
            f"No memory has the id {id!r}.", hint="`recollect list` shows ids; the last few letters suffice."
        )


class AmbiguousId(NotFound):
    code = "ambiguous-id"

    def __init__(self, given: str, matches: Iterable[str]) -> None:
        super().__init__(f"{given!r} fits several memories: {', '.join(matches)}.", hint="Give more of the id.")


class RootNotFound(NotFound):
    """The directory to index is not there; what was indexed from it before is kept."""

    code = "root-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no directory {path}.", hint="Nothing was changed. Name one that is there.")


class DocumentNotFound(NotFound):
    code = "document-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(f"No document is known as {path!r}.", hint="`recollect docs index` learns it.")


class ChangeNotFound(NotFound):
    code = "change-not-found"

    def __init__(self, given: str) -> None:
        super().__init__(
            f"There is no change {given!r} with specs in it.",
            hint="Name its directory, or the name it has below changes/.",
        )


class BackupNotFound(NotFound):
    code = "backup-not-found"

    def __init__(self, given: str) -> None:
        super().__init__(
            f"There is no backup at {given!r}.", hint="`recollect doctor` lists the backups of this store."
        )


class SpaceNotFound(NotFound):
    code = "space-not-found"

    def __init__(self, id: int) -> None:
        super().__init__(f"There is no vector space {id}.", hint="`recollect doctor` lists the spaces of this store.")


class CodeNotIndexed(NotFound):
    code = "code-not-indexed"

    def __init__(self, *, since: str | None = None) -> None:
        if since:
            super().__init__(f"Indexing is in progress since {since}.", hint="Ask again when it is done.")
        else:
            super().__init__("No source code was indexed yet.", hint="Run `recollect code index` in your project.")


class NodeNotFound(NotFound):
    code = "node-not-found"

    def __init__(self, given: str, near: Iterable[str] = ()) -> None:
        similar = ", ".join(near)
        super().__init__(
            f"The code graph has no file or symbol {given!r}.",
            hint=f"Near it: {similar}." if similar else "Write FILE or FILE:SYMBOL; `recollect code map` helps.",
        )


class AmbiguousNode(NotFound):
    code = "ambiguous-node"

    def __init__(self, given: str, matches: Iterable[str]) -> None:
        super().__init__(f"{given!r} fits several: {', '.join(matches)}.", hint="Give more of the path.")


class EntityNotFound(NotFound):
    code = "entity-not-found"

    def __init__(self, given: str) -> None:
        super().__init__(f"Nothing goes by the name {given!r}.", hint="`recollect entity list` shows who is known.")


class SessionNotFound(NotFound):
    code = "session-not-found"

    def __init__(self, given: str) -> None:
        super().__init__(f"There is no session {given!r}.", hint="`recollect status` lists the latest sessions.")


class TokenNotFound(NotFound):
    """No token has that name."""

    code = "token-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no token {name!r}.", hint="`recollect token list` shows them.")


class PersonNotFound(NotFound):
    """Nobody of that name is in the team."""

    code = "person-not-found"

    def __init__(self, name: str) -> None:
        super().__init__(f"Nobody here is called {name[:80]!r}.", hint="`recollect team members` names everybody.")


class RouteNotFound(NotFound):
    """The server has nothing at that path."""

    code = "route-not-found"

    def __init__(self, path: str) -> None:
        super().__init__(f"There is nothing at {path}.", hint="`/v1/openapi.json` lists every route.")


# --- understood, and deliberately not done -------------------------------------------------------------------------


class Refused(RecollectError):
    code = "refused"


class OutsideProject(Refused):
    code = "outside-project"

    def __init__(self, given: str, base: str) -> None:
        super().__init__(f"{given!r} lies outside the project.", hint=f"Name something below {base}.")


class Tombstoned(Refused):
    """The same statement was rejected or forgotten before, so no write path may bring it back."""

    code = "tombstoned"

    def __init__(self, *, reason: str, since: str) -> None:
        super().__init__(
            f"This statement was {reason} on {since} and stays gone.",
            hint="If it is true after all, say so: `recollect remember --again …` (or `again=True`).",
        )


class MemoryNotOpen(Refused):
    """Closing a closed memory is an error, never a no-op."""

    code = "memory-not-open"

    def __init__(self, id: str, status: str) -> None:
        super().__init__(f"{id} is already {status}.", hint=f"`recollect history {id}` tells how it came to that.")


class PersonsMemory(Refused):
    """An agent tried to change what a person wrote, said or confirmed."""

    code = "persons-memory"

    def __init__(self, id: str) -> None:
        super().__init__(
            f"{id} is a person's memory: an agent cannot change it.",
            hint="Dispute it, or propose a better statement; a person decides with `recollect review`, or by the same"
            " command with `--as-person`.",
        )


class OthersMemory(Refused):
    """An agent tried to remove for good what somebody else wrote or brought in."""

    code = "others-memory"

    def __init__(self, id: str) -> None:
        super().__init__(
            f"{id} was written or imported by somebody else: an agent can forget only what it wrote itself.",
            hint="Reject or dispute it, which can be undone; a person forgets it at a terminal or with `--as-person`.",
        )


class PersonOnly(Refused):
    """An act that only a person can do came through an agent's door."""

    code = "person-only"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"Only a person can {what}.",
            hint="If you are one: at a terminal, with `--as-person`, in the panel or with a `--for-person` token.",
        )


class RoleMissing(Refused):
    """A member asked for what a steward or an admin does."""

    code = "role-missing"

    def __init__(self, what: str, *, needed: str, held: str) -> None:
        super().__init__(
            f"To {what} takes a {needed}; you are a {held}.",
            hint="Dispute or comment on it, or ask an admin: `recollect team members` names them.",
        )


class NotInTeam(Refused):
    """Neither is this store shared, nor was a team's server joined."""

    code = "not-in-team"

    def __init__(self) -> None:
        super().__init__(
            "This store is not shared, and you have joined no team.",
            hint="Share it with `recollect team init NAME --admin YOU`, or join one: `recollect team join URL CODE`.",
        )


class KeeperOnly(Refused):
    """A member asked for what is done to the store or its machine."""

    code = "keeper-only"

    def __init__(self) -> None:
        super().__init__(
            "That is for whoever keeps the server.", hint="Ask them; members see and change memories, not the machine."
        )


class PersonalStaysHere(Refused):
    """A personal memory was sent to a shared store."""

    code = "personal-stays-here"

    def __init__(self) -> None:
        super().__init__(
            "Personal memories stay on your own machine.",
            hint="Keep it there with `recollect remember --personal`, or say who may see it with --visibility.",
        )


class SecretStaysHere(Refused):
    """A text that holds a secret was sent to a shared store."""

    code = "secret-stays-here"

    def __init__(self) -> None:
        super().__init__(
            "The text holds what looks like a secret, so it was not kept where others can read it.",
            hint="Leave the secret out and send it again.",
        )


class InvitationRefused(Refused):
    """A code that lets nobody in: unknown, used or too old. Which of these it is, is not told."""

    code = "invitation-refused"

    def __init__(self) -> None:
        super().__init__(
            "That invitation is not valid: it may have been used, or be too old.",
            hint="Ask an admin for another: `recollect team invite`.",
        )


class NothingToUndo(Refused):
    code = "nothing-to-undo"

    def __init__(self) -> None:
        super().__init__("There is no change left to undo.", hint="`recollect history` lists what was changed.")


class AlreadyUndone(Refused):
    """Somebody has taken this act back before."""

    code = "already-undone"

    def __init__(self, act: str) -> None:
        super().__init__(f"{act} was already undone.", hint="`recollect history` lists what was changed.")


class CannotUndo(Refused):
    code = "cannot-undo"

    def __init__(self, what: str, why: str, *, hint: str = "") -> None:
        super().__init__(
            f"Cannot undo {what}: {why}.", hint=hint or "A backup from before it may help: `recollect restore`."
        )


class StaleEdit(Refused):
    """The memory changed since it was read; applying the edit would lose that change."""

    code = "stale-edit"

    def __init__(self, id: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"{id} is at revision {found}, the edit was made against {expected}.", hint="Read it again and repeat."
        )


class AmbiguousEntity(Refused):
    """A name that several entities go by, where one had to be meant."""

    code = "ambiguous-entity"

    def __init__(self, given: str, matches: Iterable[str]) -> None:
        super().__init__(
            f"{given!r} could be any of these: {', '.join(matches)}.", hint="Give the id, or the name and `--type`."
        )


class BudgetSpent(Refused):
    """A call of a language model that would pass a cap. It was not made."""

    code = "budget-spent"

    def __init__(self, *, feature: str, tokens: int, per_day: int, per_session: int) -> None:
        super().__init__(
            f"{feature} wanted {tokens:,} tokens, more than is left of {per_day:,} a day or {per_session:,} a session.",
            hint="It goes on tomorrow, or raise `tokens_per_day`, `tokens_per_session`. `recollect status` shows all.",
        )


class TokenMissing(Refused):
    """A request over HTTP without the token, or with another. Nothing of it was read."""

    code = "token-missing"

    def __init__(self, *, given: bool = False) -> None:
        super().__init__(
            "This token or session is not known here, or not any more."
            if given
            else "This memory answers only to those who have its token.",
            hint="`recollect token create NAME` makes a token, `recollect panel` opens the panel."
            if given
            else "Send the header `Authorization: Bearer TOKEN`; `recollect token create NAME` makes one.",
        )


class ScopeMissing(Refused):
    """A token that may do less than the request asks for."""

    code = "scope-missing"

    def __init__(self, needed: str, held: str) -> None:
        super().__init__(
            f"This needs the scope {needed}; the token has {held}.",
            hint=f"Make another one: `recollect token create NAME --scope {needed}`.",
        )


class HostRefused(Refused):
    """A request for a host name that is not ours: a page elsewhere may have made a name point here."""

    code = "host-refused"

    def __init__(self, given: str) -> None:
        super().__init__(
            f"This server does not answer for {given!r}.", hint="Use the address that `recollect serve` shows."
        )


class OriginRefused(Refused):
    """A request that a page of another site sent."""

    code = "origin-refused"

    def __init__(self, given: str) -> None:
        super().__init__(
            f"Requests from {given or 'an unknown page'} are refused.",
            hint="Use the panel, or send a token without the header `Origin`.",
        )


class RequestRefused(InvalidInput):
    """A request that is not made as HTTP or this API has it: method, media type, header or body."""

    code = "request-refused"

    def __init__(self, problem: str, *, status: int, hint: str = "") -> None:
        super().__init__(f"{problem}.", hint=hint or "Nothing was changed. `/v1/openapi.json` tells what it takes.")
        self.status = status


class ServerBusy(Refused):
    """The server has as much to do as it may, or one request took too long."""

    code = "server-busy"

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}.", hint="Try again in a moment.")


class ServerNotReady(Refused):
    """A server that was started in the background did not come up."""

    code = "server-not-ready"

    def __init__(self, why: str, log: str) -> None:
        super().__init__(f"The server did not start: {why}.", hint=f"Run `recollect serve` to see why, or read {log}.")


class WrongSpaceState(Refused):
    """The space is not in a state in which that can be done."""

    code = "wrong-space-state"

    def __init__(self, model: str, state: str, act: str) -> None:
        super().__init__(
            f"The vectors of {model} are {state}, so they cannot be {act}.",
            hint="`recollect doctor` lists the spaces of this store and their states.",
        )


# --- a language model ------------------------------------------------------------------------------------------------


class ExtraMissing(RecollectError):
    """Something needs a Python package that is not installed."""

    code = "extra-missing"

    def __init__(self, what: str, *, package: str, extra: str) -> None:
        super().__init__(f"{what} needs the Python package {package}.", hint=f"Run `pip install 'recollect[{extra}]'`.")


class PictureFailed(RecollectError):
    """No picture of the panel could be taken."""

    code = "picture-failed"

    def __init__(self, why: str) -> None:
        super().__init__(f"No picture was taken: {why}.", hint="`recollect panel` shows the same in your browser.")


class PluginBroken(RecollectError):
    """Something that an installed package registers cannot be loaded."""

    code = "plugin-broken"

    def __init__(self, name: str, where: str, why: str) -> None:
        super().__init__(
            f"{name!r} ({where}) cannot be loaded: {why}.", hint="Choose another, or mend or remove that package."
        )


class StoreForeign(Refused):
    """Something was to leave a store that its person has neither made nor adopted."""

    code = "store-foreign"

    def __init__(self, location: str, doubt: str) -> None:
        super().__init__(
            f"{location} is foreign ({doubt}), so nothing of it is sent anywhere.",
            hint="Look at it with `recollect list`, then run `recollect trust adopt`.",
        )


class StoreChanged(Refused):
    """A store is not what the person was shown any more, so their yes is no answer to it."""

    code = "store-changed"

    def __init__(self, location: str) -> None:
        super().__init__(
            f"{location} was changed or replaced after it was shown, so it was not adopted.",
            hint="Look at it again with `recollect list`, then run `recollect trust adopt`.",
        )


class NoStoreKey(Refused):
    """The key that marks a person's stores cannot be read or made."""

    code = "no-store-key"

    def __init__(self, file: str) -> None:
        super().__init__(
            f"{file} cannot be used as the key that marks your stores.",
            hint="It must be a file of 32 bytes that belongs to you and only you can read. Remove it to get a new one.",
        )


class NoModel(Refused):
    """Something that only a language model can do was asked for, and none is configured."""

    code = "no-model"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs a language model, and none is configured.",
            hint='Set `model = "ollama:MODEL"`, "openai:MODEL" or "URL#MODEL" in `~/.config/recollect/config.toml`.',
        )


class ModelCannotChat(Refused):
    """The configured language model answers prompts, but holds no conversation with tools."""

    code = "model-cannot-chat"

    def __init__(self, model: str) -> None:
        super().__init__(
            f"The language model {model} cannot be talked to here.",
            hint="Name an OpenAI-compatible one: openai:MODEL, ollama:MODEL or URL#MODEL.",
        )


class ModelDown(RecollectError):
    """The language model gave no answer; asking again later may help. Nothing was lost."""

    code = "model-down"

    def __init__(self, model: str, why: str, *, hint: str = "") -> None:
        super().__init__(
            f"The language model {model} does not answer: {why}.",
            hint=hint or "What waits for it stays queued and is tried again. `recollect logs` tells how it went.",
        )
        self.why = why


class TeamServerRefused(RecollectError):
    """A team server gave no answer, or said no. What it says is told in its own words."""

    code = "team-server-refused"

    def __init__(self, server: str, why: str, *, hint: str = "") -> None:
        told, way_out = _told_by_server(why)
        super().__init__(
            f"The team server {server} says: {told}" if told else f"{server}: {why}.", hint=way_out or hint
        )
        self.why = why


def _told_by_server(why: str) -> tuple[str, str]:
    """The words and the way out in a problem that a server of ours answered with; nothing when it is none."""
    import json

    try:
        told = json.loads(why[why.index("{") :])
        return str(told["detail"]), str(told.get("hint", ""))
    except (ValueError, KeyError, TypeError):
        return "", ""


class ModelWrong(RecollectError):
    """The language model answered with something that cannot be used. Nothing of it was stored."""

    code = "model-wrong"

    def __init__(self, model: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"The language model {model} gave an unusable answer: {problem}.",
            hint=hint or 'Nothing of it was stored. A larger model may do better, or `model = "none"`.',
        )
        self.problem = problem


# --- the file cannot be used as asked ------------------------------------------------------------------------------


class StoreError(RecollectError):
    code = "store-error"


class StoreMissing(StoreError):
    code = "store-missing"

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no memory store at {path}.", hint="Run `recollect init` in your project first.")


class NotAStore(StoreError):
    """The file is not a database, or it is another program's."""

    code = "not-a-store"

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"{path} is {what}, so it is left alone.",
            hint="If it was a Recollect store, `recollect repair` salvages it. Otherwise name another file.",
        )


class StoreAltered(StoreError):
    """The file is a store of ours into which somebody put what no Recollect makes: it could run something when read."""

    code = "store-altered"

    def __init__(self, path: str, odd: Iterable[str]) -> None:
        told = list(odd)
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""
        super().__init__(
            f"{path} was altered by another program: {', '.join(told[:3])}{more}. It was not read.",
            hint="Do not use a store from someone you do not trust. `recollect repair` carries its memories into a "
            "fresh store and keeps this file.",
        )


class NewerSchema(StoreError):
    code = "newer-schema"

    def __init__(self, *, found: int, known: int) -> None:
        super().__init__(
            f"The store was written by a newer Recollect (schema {found}; this one knows {known}).",
            hint="Upgrade Recollect. Reading still works with `recollect --read-only …`; nothing was changed.",
        )


class StoreDamaged(StoreError):
    code = "store-damaged"

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"{path} is damaged: {what}.",
            hint="Run `recollect repair`: it keeps a quarantined copy, salvages every readable row, deletes nothing.",
        )


class StoreLost(StoreError):
    """The file changed under an open store in a way it cannot follow. Nothing was acknowledged."""

    code = "store-lost"

    def __init__(self, path: str, what: str, *, hint: str = "") -> None:
        super().__init__(
            f"{path} {what} while it was open; nothing was written.",
            hint=hint or "Put the file back, or put a backup there with `recollect restore`, and try again.",
        )


class UnsafeFile(StoreError):
    """A link, a device or a stranger's file where one of the store's own files should be."""

    code = "unsafe-file"

    def __init__(self, path: str, what: str, *, hint: str) -> None:
        super().__init__(f"{path} is {what}, so it is not used.", hint=hint)


class StoreBusy(StoreError):
    code = "store-busy"

    def __init__(self, path: str, *, waited: float) -> None:
        super().__init__(
            f"Another process has been writing to {path} for {waited:.0f} s.",
            hint="Try again. If no other Recollect runs, `recollect doctor` names the holder.",
        )


class NoFileLocks(StoreError):
    """The file system knows neither kind of file lock, so two writers could not be kept apart."""

    code = "no-file-locks"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The file system of this store has no file locks ({why}); nothing was changed.",
            hint="Keep the store on a local disk: name another file with `--store`.",
        )


class StoreFull(StoreError):
    code = "store-full"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"The disk that holds {path} is full; nothing was changed.",
            hint="Free some space. Reading and `recollect forget` still work.",
        )


class StoreReadOnly(StoreError):
    code = "store-read-only"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} cannot be written.", hint="Check the permissions of the file and its directory.")


class MemoryClosed(StoreError):
    code = "memory-closed"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was closed.", hint="Open it again with recollect.open().")


class UnusableFile(StoreError):
    """A file or directory beside the store that the system does not let us use."""

    code = "unusable-file"

    def __init__(self, error: OSError) -> None:
        where = f"{error.filename}: " if error.filename else ""
        super().__init__(
            f"{where}{error.strerror or type(error).__name__}.", hint="Check that file, its permissions and the disk."
        )


class InternalError(RecollectError):
    """Something nobody foresaw. A door tells it in two lines instead of a traceback."""

    code = "internal-error"

    def __init__(self, error: BaseException) -> None:
        told = " ".join(str(error).split())[:300]
        super().__init__(
            f"{type(error).__name__}: {told}" if told else type(error).__name__,
            hint="This is a mistake in Recollect. Set RECOLLECT_TRACEBACK=1, try again and report what it prints.",
        )


class UnsafeSqlite(StoreError):
    code = "unsafe-sqlite"

    def __init__(self, version: str) -> None:
        super().__init__(
            f"SQLite {version} can corrupt a store that several processes write (fixed in 3.51.3).",
            hint="Upgrade the `apsw` package.",
        )


class StoreUnreachable(StoreError):
    """No connection to the database server, or it broke off. What a write had not yet committed is taken back."""

    code = "store-unreachable"

    def __init__(self, location: str, why: str, *, was_committing: bool = False) -> None:
        told = "It broke off during a commit: look whether the last change is there before repeating it. "
        super().__init__(
            f"{location} cannot be reached: {why}.",
            hint=f"{told if was_committing else ''}Check the address, the user and that the server runs.",
        )


class BadDsn(StoreError):
    """What should name a database cannot be read as such."""

    code = "bad-dsn"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"That is no address of a PostgreSQL database: {why}.",
            hint="Write it as postgresql://user:password@host:5432/database?tenant=name.",
        )


class OldServer(StoreError):
    code = "old-server"

    def __init__(self, location: str, what: str, *, found: str, needed: str) -> None:
        super().__init__(
            f"{location} runs {what} {found}; Recollect needs {needed} or later.",
            hint="Upgrade the server."
            if what == "PostgreSQL"
            else "Install a newer pgvector and run `alter extension vector update`.",
        )


class ExtensionMissing(StoreError):
    code = "extension-missing"

    def __init__(self, location: str, *, extension: str) -> None:
        super().__init__(
            f"{location} does not have the extension {extension!r}.",
            hint=f"Install pgvector on the server, then run `create extension {extension}` as an administrator.",
        )


class StoreForbidden(StoreError):
    """The database role may not do what was asked."""

    code = "store-forbidden"

    def __init__(self, location: str, why: str, *, hint: str) -> None:
        super().__init__(f"{location} does not allow that: {why}.", hint=hint)


class RowSecurityOff(StoreError):
    """A role that sees every tenant's rows is not let in."""

    code = "row-security-off"

    def __init__(self, location: str, role: str) -> None:
        super().__init__(
            f"The role {role!r} ignores row-level security, so {location} was not opened.",
            hint="Connect as a role without SUPERUSER and BYPASSRLS, or as one that may create roles: "
            "Recollect then works as the role recollect_app.",
        )


class PoolExhausted(StoreError):
    code = "pool-exhausted"

    def __init__(self, location: str, *, size: int, waited: float) -> None:
        super().__init__(
            f"All {size} connections to {location} have been in use for {waited:.0f} s.",
            hint="Try again, use fewer threads, or add `pool=20` to the address.",
        )


class FileOnly(StoreError):
    """Something that is done to a file was asked of a store on a server."""

    code = "file-only"

    def __init__(self, what: str, location: str, *, hint: str) -> None:
        super().__init__(f"{what} works on a store in a file; {location} is on a server.", hint=hint)


class MigrationFailed(StoreError):
    code = "migration-failed"

    def __init__(self, *, number: int, why: str, backup: str) -> None:
        super().__init__(
            f"Migration {number} was rolled back: {why}.", hint=f"Nothing was changed. A backup is at {backup}."
        )


class BackupFailed(StoreError):
    code = "backup-failed"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"The backup {path} is not usable: {why}.", hint="The store itself was not changed.")


class MoveFailed(StoreError):
    """What arrived is not what was sent."""

    code = "move-failed"

    def __init__(self, source: str, target: str, problem: str) -> None:
        super().__init__(
            f"{target} does not hold what {source} holds: {problem}.",
            hint="The source was not changed. Run the same command again; what has arrived is not copied twice.",
        )


class EmbeddingMismatch(StoreError):
    """A vector from another model, or of another length, than those it would be compared with."""

    code = "embedding-mismatch"

    def __init__(self, *, stored: str, configured: str) -> None:
        super().__init__(
            f"Vectors were made by {stored}, but {configured} is configured.",
            hint="Make new ones with `recollect tend --job vectors`, or set `embedder` to the old model.",
        )
