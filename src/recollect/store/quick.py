"""The lean way to read: a few statements over the rows and the keyword index, enough to remind an agent in time.

The hook process opens the file here, for reading only and without any migration; the agent's session hands in the
engine it has. Needs nothing but the standard library and the driver. Rows in, values out, nothing decided but rank.
"""

from __future__ import annotations

import json
import math
import os

from recollect.core.fading import DISPUTED, curve_of, faded
from recollect.core.known import Known
from recollect.core.parts import parts
from recollect.core.text import humps, index_names, whole
from recollect.store.sqlite.match import TOKENIZER, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    import apsw

    Rows = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]
    Tokens = Callable[[Sequence[str]], list[list[str]]]

APPLICATION_ID = 0x52434C54  # "RCLT" in the file header
_BUSY_MS = 100  # a reader in WAL mode waits for nobody but a recovery
_MOST_READ = 4_000  # characters of a text that words are taken from
_MOST_TERMS = 10  # rarest terms that are looked for; the others only cost time
_MOST_ROWS = 1_500  # rows the terms that are looked for stand in, together; commoner terms only weigh
_LOOKED_AT = 30  # best rows by BM25 that are looked at closely
_RARE = 0.02  # share of rows: a name that stands in fewer tells enough alone
_FEW = 3  # … or in as few rows as this
_MOST_UNKNOWN = 4  # words that stand nowhere and still count: the text is about something else too
_UNKNOWN = 0.5  # … each as this share of a word that stands once

# Words of requests and of talk: they say what is wanted, not what it is about. Asked for by hand they count.
_TALK = frozenset(
    "add again agree ahead almost already also always another anything ask back bad best better bit both bring btw "
    "call change check clean come commit continue correct cool create current different does doesn doing done don "
    "edit else enough even every everything exactly explain feel file files find fine first fix following get give go "
    "going gonna good got great guess happen happened hello help hey hi hmm idea implement implemented implementation "
    "improve instead issue issues keep kind know last later least less let lets like line list little ll look looks "
    "lot made make makes making many may maybe mean mind move much must need needs never new next nice nothing now off "
    "ok okay old one only open other part perfect place plan point possible pretty problem proceed put question quick "
    "re read ready really remove rename right run same say says second see seem seems set show similar since small "
    "something sorry start started still stop stuff suggest sure take talk tell test tests thank thanks thing things "
    "think third thought three time today together tried try trying turn two understand update use used using ve wait "
    "want way well without won wonder work works working wrong yeah yep yes yet".split()
)

_NAMES = (
    "m.id, m.kind, m.content, m.confidence, m.source, m.status, m.files, m.modules, "
    "coalesce(m.event_at, m.created_at), m.verified, m.pinned, m.provenance, m.citation, m.session, m.attributes, "
    "m.payload, m.decay, max(m.accessed_at, m.created_at)"
)
# Nobody is told what is closed, outdated, or only evidence.
_STANDING = (
    "m.project = :project and m.status in ('active', 'disputed') and m.kind not in ('episode', 'passage') "
    "and (m.valid_until is null or m.valid_until > :now) and (m.stale_at is null or m.stale_at > :now)"
)


class Quick:
    """Reads of one store at one moment; `now` is milliseconds since 1970."""

    def __init__(self, rows: Rows, tokens: Tokens, *, now: int) -> None:
        self._rows = rows
        self._tokens = tokens
        self._now = now
        self._total = 1  # rows in the keyword index
        self.project = self.meta("project") or "default"

    _META = "select value from meta where name = :name"

    def meta(self, name: str) -> str | None:
        found = self._rows(self._META, {"name": name})
        return str(found[0][0]) if found else None

    _GIVEN = "select memory from injections where project = :project and session = :session"

    def given(self, session: str) -> set[str]:
        """What a session was told already. A store from before there was such a table has told nothing."""
        try:
            return {row[0] for row in self._rows(self._GIVEN, {"project": self.project, "session": session})}
        except Exception as error:  # the driver's own, whose module this one does not load; any other is raised on
            if "no such table" in str(error):
                return set()
            raise

    _OUTLOOK = """
        select json_extract(value, '$.bar'), (select value from json_each(meta.value, '$.tools') where key = :tool)
          from meta where name = 'outlook' and json_valid(value)
    """

    def outlook(self, tool: str) -> tuple[float, str] | None:
        """How likely a failure must be to be warned of, and what is known to fail with a tool, packed."""
        found = self._rows(self._OUTLOOK, {"tool": tool})
        return (float(found[0][0]), str(found[0][1])) if found and found[0][1] and found[0][0] is not None else None

    _EXISTS = """
        select instr(value, char(10) || :path || char(10)) > 0 or instr(value, char(10, 1, 10)) > 0
          from meta where name = 'outlook_files'
    """

    def exists(self, path: str) -> bool:
        """Did earlier sessions find a file or folder of the project? One of too many to be kept counts as found."""
        found = self._rows(self._EXISTS, {"path": path})
        return bool(found and found[0][0])

    _ABOUT = f"""
        select {_NAMES} from memories m not indexed
         where m.seq in (select seq from facets where facet = :facet and value in (select value from json_each(:values))
                          order by seq desc limit 400)
           and m.kind in (select value from json_each(:kinds)) and {_STANDING}
         order by m.confidence desc, m.seq desc limit :limit
    """

    def about(self, names: Iterable[str], kinds: Iterable[str], *, limit: int, facet: str = "file") -> list[Known]:
        """What is known of some files, or modules, the surest first."""
        listed = {"values": json.dumps(sorted(names)), "kinds": json.dumps(sorted(kinds)), "limit": limit}
        return self._known(self._ABOUT, {**listed, "facet": facet})

    _OF_KIND = f"""
        select {_NAMES} from memories m where {_STANDING} and m.kind = :kind
         order by m.created_at desc, m.seq desc limit :limit
    """

    def of_kind(self, kind: str, *, limit: int) -> list[Known]:
        """The newest of a kind."""
        return self._known(self._OF_KIND, {"kind": kind, "limit": limit})

    _LEADING = f"""
        select {_NAMES} from memories m
         where {_STANDING} and m.scope = 'global' and m.files is null
           and m.kind in (select value from json_each(:kinds))
         order by m.pinned desc, m.verified desc, m.confidence desc, m.created_at desc, m.seq limit :limit
    """

    def leading(self, kinds: Iterable[str], *, limit: int) -> list[Known]:
        """What holds everywhere: pinned first, then confirmed, then the surest. What is about files waits until they
        are touched."""
        return self._known(self._LEADING, {"kinds": json.dumps(sorted(kinds)), "limit": limit})

    _FRESH = f"""
        select {_NAMES} from memories m
         where {_STANDING} and m.created_at > :since and m.source in ('user_taught', 'agent_explicit', 'qa_auto')
         order by m.created_at desc, m.seq desc limit :limit
    """

    def fresh(self, since: int, *, limit: int) -> list[Known]:
        """What was written down since a moment, the newest first."""
        return self._known(self._FRESH, {"since": since, "limit": limit})

    _TOTAL = "select max(rowid) from keywords_docsize"
    _FREQUENCY = "select doc from temp.keyword_terms where term = :term"
    _FOUND = """
        select rowid, bm25(keywords, 1.0, 0.8, 0.3) as rank from keywords where keywords match :match
         order by rank, rowid limit :limit
    """
    _THESE = f"""
        select {_NAMES}, m.seq from memories m not indexed
         where m.seq in (select value from json_each(:seqs)) and m.kind in (select value from json_each(:kinds))
           and {_STANDING}
    """

    def search(self, text: str, kinds: Iterable[str], *, limit: int) -> list[Known]:
        """The memories of some kinds that speak of what `text` does, each with how much of it they share.

        Relevance is the share of the text's rarest words, weighed by rarity, that stand in the memory. One common word
        is no reason to speak: it takes two words, or one name that is rare.
        """
        asked = self._asked(text)
        if not asked.spelt:
            return []
        expression = " OR ".join(quoted(word) for word in asked.spelt)
        found = self._rows(self._FOUND, {"match": expression, "limit": _LOOKED_AT})
        place = {row[0]: number for number, row in enumerate(found)}
        params = {"seqs": json.dumps(list(place)), "kinds": json.dumps(sorted(kinds))}
        rows = self._rows(self._THESE, {**params, "project": self.project, "now": self._now})
        hits = [(self._one(row[:-1]), place[row[-1]]) for row in rows]
        held = self._tokens([asked.searched(known) for known, _ in hits])
        for (known, _), words in zip(hits, held, strict=True):
            known.relevance = asked.share(set(words))
        told = [(known, rank) for known, rank in hits if known.relevance > 0]
        told.sort(key=lambda pair: (-pair[0].relevance * pair[0].confidence, pair[1], pair[0].id))
        return [known for known, _ in told[:limit]]

    def shares(self, text: str, found: Sequence[Known]) -> list[float]:
        """How much of what a text speaks of each memory shares, whoever found it."""
        asked = self._asked(text)
        return [asked.share(set(words)) for words in self._tokens([asked.searched(known) for known in found])]

    def _asked(self, text: str) -> Asked:
        """What a text asks for, its rarest terms as the index spells them."""
        words, phrases, names = parts(text, most=_MOST_READ)
        words = tuple(word for word in words if word not in _TALK and not word.isdigit())
        plain = [*(whole(name) for name in names), *(piece for name in names for piece in humps(name)), *words]
        plain += [word for phrase in phrases for word in phrase.split()]
        spelt = {token: word for word, tokens in zip(plain, self._tokens(plain), strict=True) for token in tokens[:1]}
        self._total = max(1, int((self._rows(self._TOTAL, {}) or [(1,)])[0][0] or 1))
        weighed: list[tuple[int, str, str]] = []  # in how many rows, the term, its plain spelling
        unknown = 0
        for term, word in spelt.items():
            row = self._rows(self._FREQUENCY, {"term": term}) if len(term) > 1 else [(self._total,)]
            if row:
                weighed.append((int(row[0][0]), term, word))
            else:
                unknown += 1
        best = sorted(weighed)[:_MOST_TERMS]
        rest = min(unknown, _MOST_UNKNOWN) * _UNKNOWN * self._weight(1)
        rare = self._weight(max(_FEW, int(_RARE * self._total)))
        weights = {term: self._weight(rows) for rows, term, _ in best}
        named = {token for tokens in self._tokens([whole(name) for name in names]) for token in tokens}
        return Asked(_affordable(best), weights, rest, rare, named)

    def _weight(self, rows: int) -> float:
        return math.log(1 + self._total / max(rows, 1))

    def _known(self, sql: str, params: Mapping[str, Any]) -> list[Known]:
        found = self._rows(sql, {**params, "project": self.project, "now": self._now})
        return [self._one(row) for row in found]

    def _one(self, row: Sequence[Any]) -> Known:
        (id, kind, content, confidence, source, status, files, modules, at, verified, pinned, provenance, citation,
         session, attributes, payload, decay, used) = row  # fmt: skip
        now = confidence if pinned else faded(confidence, decay or curve_of(kind), self._now - used)
        return Known(
            id,
            kind,
            content,
            confidence=now * DISPUTED if status == "disputed" else now,
            source=source,
            status=status,
            files=_listed(files),
            modules=_listed(modules),
            at=at,
            verified=bool(verified),
            pinned=bool(pinned),
            seen=max(1, len(_listed(provenance))),
            citation=citation or "",
            session=session,
            attributes=_object(attributes),
            payload=_object(payload),
        )


def _affordable(terms: Sequence[tuple[int, str, str]]) -> list[str]:
    """The plain spellings of the rarest terms, as long as few rows hold them; always the rarest one."""
    spelt: list[str] = []
    spent = 0
    for rows, _, word in terms:
        spent += rows
        if spelt and spent > _MOST_ROWS:
            break
        spelt.append(word)
    return spelt


class Asked:
    """A text as the index sees it: its rarest terms with their weights, and what it says that stands nowhere."""

    __slots__ = ("_named", "_rare", "_rest", "_weights", "spelt")

    def __init__(
        self, spelt: list[str], weights: Mapping[str, float], rest: float, rare: float, named: set[str]
    ) -> None:
        self.spelt = spelt
        self._weights = weights
        self._rest = rest
        self._rare = rare
        self._named = named  # terms that are names in code

    def searched(self, known: Known) -> str:
        """What the index holds of a memory, as far as it was asked for."""
        labels = (*known.files, *known.modules)
        return f"{known.content} {index_names(known.content, *labels) if self._named else ' '.join(labels)}"

    def share(self, held: set[str]) -> float:
        """How much of it a memory holds; nothing when that is one word of several, unless it is a rare name."""
        shared = {term: weight for term, weight in self._weights.items() if term in held}
        if not shared:
            return 0.0
        if len(shared) == 1 and (len(self._weights) > 1 or self._rest > 0):
            ((term, weight),) = shared.items()
            if term not in self._named or weight < self._rare:
                return 0.0
        return sum(shared.values()) / (sum(self._weights.values()) + self._rest)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


def _object(text: str | None) -> dict[str, Any]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def open_quick(path: str, *, now: int) -> Quick:
    """A store as it stands on disk, while others may be writing it. Raises when it is absent or not one of ours."""
    connection = _connected(path)
    connection.set_busy_timeout(_BUSY_MS)
    ours = connection.execute("pragma application_id").fetchall()
    if not ours or ours[0][0] != APPLICATION_ID:
        raise OSError(f"{path} is not a store of ours")
    connection.execute("pragma trusted_schema = off; pragma temp_store = memory")
    connection.execute("create virtual table temp.keyword_terms using fts5vocab(main, keywords, row)")
    connection.execute("pragma query_only = on")
    cut: Any = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))

    def rows(sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return connection.execute(sql, params).fetchall()

    def tokens(texts: Sequence[str]) -> list[list[str]]:
        return [list(cut(text.encode(), 4, None, include_offsets=False, include_colocated=False)) for text in texts]

    return Quick(rows, tokens, now=now)


def _connected(path: str) -> apsw.Connection:
    import apsw

    if not os.path.exists(path):
        raise OSError(f"there is no store at {path}")
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
