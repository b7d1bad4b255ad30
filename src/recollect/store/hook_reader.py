"""The light reader: a few statements over the rows and the keyword index, enough to remind an agent in time.

A hook process brings a file that was opened for reading only (`sqlite/hook_file.py`), a warm process the engine it has.
Loads nothing but the standard library and the house's tables of figures. Ranks, decides nothing else.
"""

from __future__ import annotations

import json
import math

from recollect.core.aptness import APT, WeighedRequest, name_parts, split_request, telling_words, weigh_stem
from recollect.core.decay import DISPUTED_SHARE, stored_decay
from recollect.core.digest import checksum, row_checksum
from recollect.core.fields import COLUMNS, column_names
from recollect.core.ranking import EVIDENCE_KINDS, KEYWORD_COLUMNS, SHOWN_STATUSES
from recollect.core.summary import MemorySummary
from recollect.core.text import CONTENT_LIMIT, humps, index_names, is_small_talk, split_terms, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    Rows = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]

    class HookKeywords(Protocol):
        """What the light reader asks of a keyword index."""

        def tokens(self, texts: Sequence[str]) -> list[list[str]]: ...

        def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]: ...

        def ranked(self, words: Sequence[str], *, weights: tuple[float, float, float], limit: int) -> list[int]: ...


_DAY_MS = 86_400_000.0
_MAX_CHARS = 4_000  # of a text that words are taken from
_MAX_TERMS = 10  # rarest terms that are looked for; the others only cost time
_MAX_ROWS = 1_500  # rows the terms that are looked for stand in, together; commoner terms only weigh
_LOOKED_AT = 30  # best rows by BM25 that are looked at closely
_LOOKED_AT_FOR_REQUESTS = 50  # … for a request, which may have several topics
_TERMS_OF_SEGMENT = 5  # of its stems that tell most that are looked for
_TERMS_OF_REQUEST = 32
_RARE = 0.02  # share of rows: a name that stands in fewer tells enough alone
_FEW = 3  # … or in as few rows as this
_MAX_UNKNOWN = 4  # words that stand nowhere and still count: the text is about something else too
_UNKNOWN = 0.5  # … each as this share of a word that stands once


def _sql_list(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


WEIGHTS = (KEYWORD_COLUMNS[0], KEYWORD_COLUMNS[1], KEYWORD_COLUMNS[2])
_ROW = f"{column_names(prefix='m.')}, m.checksum"  # whole rows: their checksum covers every column
# Nobody is told what is closed, outdated, only evidence, or one user's own.
_STANDING = (
    f"m.project = :project and m.status in ({_sql_list(SHOWN_STATUSES)}) "
    f"and m.kind not in ({_sql_list(EVIDENCE_KINDS)}) "
    "and (m.valid_until is null or m.valid_until > :now) and (m.stale_at is null or m.stale_at > :now) "
    "and m.user_id is null"  # an agent at work is not one user of an assistant
)


class HookReader:
    """Reads of one store at one moment; `now` is milliseconds since 1970."""

    def __init__(self, rows: Rows, keywords: HookKeywords, *, now: int) -> None:
        self._rows = rows
        self._keywords = keywords
        self._tokens = keywords.tokens
        self._now = now
        self.project = self._fact("", "project") or "default"
        self.former_names: Callable[[Iterable[str]], list[str]] = list  # adds what renamed files were called

    _META = "select value, checksum from meta where project = :project and name = :name"

    def meta(self, name: str) -> str | None:
        """A fact about the project; a damaged one is an error."""
        return self._fact(self.project, name)

    def file_meta(self, name: str) -> str | None:
        """A fact about the whole file; a damaged one is an error."""
        return self._fact("", name)

    def _fact(self, project: str, name: str) -> str | None:
        found = self._rows(self._META, {"project": project, "name": name})
        if not found:
            return None
        value, stored = found[0]
        if checksum([project, name, value]) != stored:
            raise OSError(f"what the store says of its {name} does not match its checksum")
        return str(value)

    _TOLD = "select memory from injections where project = :project and session = :session"

    def told_in(self, session: str) -> set[str]:
        """What an earlier file of the session said it was told, as far as that was brought in."""
        return {row[0] for row in self._rows(self._TOLD, {"project": self.project, "session": session})}

    def outlook(self, tool: str) -> tuple[float, str] | None:
        """How likely a failure must be to be warned of, and what is known to fail with a tool, packed."""
        known = self.meta("outlook")
        if known is None:
            return None
        whole = _object(known)
        part, bar = whole.get("tools", {}).get(tool), whole.get("bar")
        return None if part is None or bar is None else (float(bar), json.dumps(part))

    _EXISTS = """
        select strpos(value, :line) > 0 or strpos(value, :unlisted) > 0
          from meta where project = :project and name = 'outlook_files'
    """

    def exists(self, path: str) -> bool:
        """Did earlier sessions find a file or folder of the project? One of too many to be kept counts as found."""
        asked = {"project": self.project, "line": f"\n{path}\n", "unlisted": "\n\1\n"}
        found = self._rows(self._EXISTS, asked)
        return bool(found and found[0][0])

    _ABOUT = f"""
        select {_ROW} from memories m /* not indexed */
         where m.seq in (select seq from facets where project = :project and facet = :facet
                            and value = any(:values) order by seq desc limit 400)
           and m.kind = any(:kinds) and {_STANDING}
         order by m.confidence desc, m.seq desc limit :limit
    """

    def about(
        self, names: Iterable[str], kinds: Iterable[str], *, limit: int, facet: str = "file"
    ) -> list[MemorySummary]:
        """What is known of some files, or modules, the surest first."""
        names = self.former_names(names) if facet == "file" else names
        listed = {"values": sorted(names), "kinds": sorted(kinds), "limit": limit}
        return self._summaries(self._ABOUT, {**listed, "facet": facet})

    _OF_KIND = f"""
        select {_ROW} from memories m where {_STANDING} and m.kind = :kind
         order by m.created_at desc, m.seq desc limit :limit
    """

    def of_kind(self, kind: str, *, limit: int) -> list[MemorySummary]:
        """The newest of a kind."""
        return self._summaries(self._OF_KIND, {"kind": kind, "limit": limit})

    _LEADING = f"""
        select {_ROW} from memories m
         where {_STANDING} and m.scope = 'global' and m.files is null
           and m.kind = any(:kinds)
         order by m.pinned desc, m.verified desc, m.confidence desc, m.created_at desc, m.seq limit :limit
    """

    def leading(self, kinds: Iterable[str], *, limit: int) -> Iterator[MemorySummary]:
        """What holds everywhere: pinned first, then confirmed, then the surest. What is about files waits until they
        are touched. Read as far as it is asked for: most of it is only there in case the first may not be told."""
        return self._each(self._LEADING, {"kinds": sorted(kinds), "limit": limit})

    _FRESH = f"""
        select {_ROW} from memories m
         where {_STANDING} and m.created_at > :since and m.source in ('user_taught', 'agent_explicit', 'qa_auto')
         order by m.created_at desc, m.seq desc limit :limit
    """

    def fresh(self, since: int, *, limit: int) -> list[MemorySummary]:
        """What was written down since a moment, the newest first."""
        return self._summaries(self._FRESH, {"since": since, "limit": limit})

    def _summaries(self, sql: str, params: Mapping[str, Any]) -> list[MemorySummary]:
        return list(self._each(sql, params))

    def _each(self, sql: str, params: Mapping[str, Any]) -> Iterator[MemorySummary]:
        found = self._rows(sql, {**params, "project": self.project, "now": self._now})
        return (self._summary(row) for row in found if _is_sound(row))

    # --- by words -------------------------------------------------------------------------------------------------

    _INDEXED = f"""
        select m.seq, m.content, m.files, m.modules from memories m /* not indexed */
         where m.seq = any(:seqs) and m.kind = any(:kinds)
           and octet_length(m.content) <= {CONTENT_LIMIT} and {_STANDING}
    """
    _THESE = f"select {_ROW}, m.seq from memories m /* not indexed */ where m.seq = any(:seqs)"

    def search(self, text: str, kinds: Iterable[str], *, limit: int) -> list[MemorySummary]:
        """The memories of some kinds that speak of what `text` does, each with how much of it they share.

        Relevance is the share of the text's rarest words, weighed by rarity, that stand in the memory. One common word
        is no reason to speak: it takes two words, or one name that is rare.
        """
        asked = self._read(text)
        if not asked.spelt:
            return []
        matching = self._keywords.ranked(asked.spelt, weights=WEIGHTS, limit=_LOOKED_AT)
        rank = {seq: number for number, seq in enumerate(matching)}
        params = {"seqs": list(rank), "kinds": sorted(kinds)}
        found = self._rows(self._INDEXED, {**params, "project": self.project, "now": self._now})
        texts = [(content, (*_labels(files), *_labels(modules))) for _, content, files, modules in found]
        shares = {row[0]: share for row, share in zip(found, self._shares(asked, texts), strict=True) if share > 0}
        if not shares:
            return []
        rows = self._rows(self._THESE, {"seqs": list(shares)})
        hits = [
            (self._summary(row[:-1], relevance=shares[row[-1]]), rank[row[-1]]) for row in rows if _is_sound(row[:-1])
        ]
        hits.sort(key=lambda hit: (-hit[0].relevance * hit[0].confidence, hit[1], hit[0].id))
        return [summary for summary, _ in hits[:limit]]

    def find_apt(self, text: str, kinds: Iterable[str], *, limit: int) -> list[MemorySummary]:
        """The memories of some kinds that speak of what a sentence of a request does, each with how much."""
        request, spelt = self._read_request(text)
        if not spelt:
            return []
        matching = self._keywords.ranked(spelt, weights=WEIGHTS, limit=_LOOKED_AT_FOR_REQUESTS)
        params = {"seqs": matching, "kinds": sorted(kinds)}
        found = self._rows(self._INDEXED, {**params, "project": self.project, "now": self._now})
        texts = [(content, (*_labels(files), *_labels(modules))) for _, content, files, modules in found]
        judged = zip(found, self._judge(request, texts), strict=True)
        # What one part of the request speaks of most comes before more on what another does.
        best = sorted(
            (relevance < APT, not leads, -relevance, row[0]) for row, (relevance, leads) in judged if relevance > 0
        )[:limit]
        rank = {seq: number for number, (_, _, _, seq) in enumerate(best)}
        rows = self._rows(self._THESE, {"seqs": list(rank)}) if best else []
        rows.sort(key=lambda row: rank[row[-1]])
        return [self._summary(row[:-1], relevance=-best[rank[row[-1]]][2]) for row in rows if _is_sound(row[:-1])]

    def rate(self, text: str, found: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """How much each memory speaks of what a request does, whoever found it: its content and its labels."""
        return [relevance for relevance, _ in self._judge(self._read_request(text)[0], found)]

    def _judge(self, request: WeighedRequest, found: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[float, bool]]:
        texts = [" ".join([content, *labels]) for content, labels in found]
        close = [place for place, stems in enumerate(self._tokens(texts)) if request.may_agree(frozenset(stems))]
        spelt = [" ".join(telling_words(texts[place])) for place in close]
        agreements = [(0.0, -1)] * len(found)
        for place, stems in zip(close, self._tokens(spelt), strict=True):
            agreements[place] = request.agreement(frozenset(stems))
        return request.judge(agreements)

    def _read_request(self, text: str) -> tuple[WeighedRequest, list[str]]:
        """A request as the index spells it, and the words to look for: the rarest of every part."""
        segments = split_request(text)
        plain = list(dict.fromkeys(word for segment in segments for word in segment.words))
        stem_of = {word: stems[0] for word, stems in zip(plain, self._tokens(plain), strict=True) if stems}
        parts: list[tuple[dict[str, bool], float]] = []
        identifiers: set[str] = set()
        for segment in segments:
            stems: dict[str, bool] = {}
            for word, is_name in segment.words.items():
                if stem := stem_of.get(word):
                    stems[stem] = stems.get(stem, False) or is_name
            identifiers.update(stem for stem, is_name in stems.items() if is_name)
            parts.append((stems, segment.share))
        rows_of, total = self._keywords.frequencies(list(set(stem_of.values())))
        weights = {
            stem: weigh_stem(stem, rows_of.get(stem, 0), max(1, total), is_name=stem in identifiers)
            for stem in stem_of.values()
        }
        known = sorted((stem for stem in weights if stem in rows_of), key=lambda stem: (-weights[stem], rows_of[stem]))
        rank = {stem: number for number, stem in enumerate(known)}
        wanted: set[int] = set()
        for part, _ in parts:
            wanted.update(sorted([rank[stem] for stem in part if stem in rank])[:_TERMS_OF_SEGMENT])
        spelling = {stem: word for word, stem in stem_of.items()}
        rarest = sorted((rows_of[known[number]], known[number], spelling[known[number]]) for number in wanted)
        names = {
            stem_of[name]: {stem_of[piece] for piece in pieces if piece in stem_of} - {stem_of[name]}
            for name, pieces in name_parts(text).items()
            if name in stem_of
        }
        request = WeighedRequest(parts, weights, names=names, length=len(text.split()))
        return request, _affordable(rarest[:_TERMS_OF_REQUEST])

    def shares(self, text: str, found: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """How much of what a text speaks of each memory shares, whoever found it: its content and its labels."""
        return self._shares(self._read(text), found)

    def _shares(self, asked: AskedText, found: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        indexed = [asked.indexed(content, labels) for content, labels in found]
        return [asked.share(set(words)) for words in self._tokens(indexed)]

    def _read(self, text: str) -> AskedText:
        """What a text asks for, its rarest terms as the index spells them."""
        words, phrases, names = split_terms(text, max_chars=_MAX_CHARS)
        words = tuple(word for word in words if not is_small_talk(word) and not word.isdigit())
        plain = [*(whole(name) for name in names), *(piece for name in names for piece in humps(name)), *words]
        plain += [word for phrase in phrases for word in phrase.split()]
        spelt = {token: word for word, tokens in zip(plain, self._tokens(plain), strict=True) for token in tokens[:1]}
        rows_of, size = self._keywords.frequencies([term for term in spelt if len(term) > 1])
        total = max(1, size)
        counted: list[tuple[int, str, str]] = []  # in how many rows, the term, its plain spelling
        unknown = 0
        for term, word in spelt.items():
            if rows := rows_of.get(term, 0 if len(term) > 1 else total):
                counted.append((rows, term, word))
            else:
                unknown += 1
        rarest = sorted(counted)[:_MAX_TERMS]
        return AskedText(
            _affordable(rarest),
            {term: _weight(rows, total) for rows, term, _ in rarest},
            rest=min(unknown, _MAX_UNKNOWN) * _UNKNOWN * _weight(1, total),
            rare=_weight(max(_FEW, int(_RARE * total)), total),
            named={token for tokens in self._tokens([whole(name) for name in names]) for token in tokens},
        )

    def _summary(self, row: Sequence[Any], *, relevance: float = 0.0) -> MemorySummary:
        """A whole row as an agent is told of it."""
        value = dict(zip(COLUMNS, row, strict=False))
        confidence = value["confidence"]
        if not value["pinned"]:
            days = max(0, self._now - max(value["accessed_at"], value["created_at"])) / _DAY_MS
            confidence = stored_decay(value["decay"], value["kind"]).left(confidence, days)
        if value["status"] == "disputed":
            confidence *= DISPUTED_SHARE
        return MemorySummary(
            value["id"],
            value["kind"],
            value["content"],
            confidence=confidence,
            source=value["source"],
            status=value["status"],
            files=_labels(value["files"]),
            modules=_labels(value["modules"]),
            at=value["created_at"] if value["event_at"] is None else value["event_at"],
            verified=bool(value["verified"]),
            pinned=bool(value["pinned"]),
            seen=max(1, len(_labels(value["provenance"]))),
            accesses=value["access_count"],
            citation=value["citation"] or "",
            session=value["session"],
            attributes=_object(value["attributes"]),
            payload=_object(value["payload"]),
            relevance=relevance,
        )


class AskedText:
    """A text as the index sees it: its rarest terms with their weights, and what it says that stands nowhere."""

    __slots__ = ("_named", "_rare", "_rest", "_weights", "spelt")

    def __init__(
        self, spelt: list[str], weights: Mapping[str, float], *, rest: float, rare: float, named: set[str]
    ) -> None:
        self.spelt = spelt
        self._weights = weights
        self._rest = rest
        self._rare = rare
        self._named = named  # terms that are names in code

    def indexed(self, content: str, labels: Sequence[str]) -> str:
        """What the index holds of a memory, as far as it was asked for."""
        return f"{content} {index_names(content, *labels) if self._named else ' '.join(labels)}"

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


def _weight(rows: int, total: int) -> float:
    return math.log(1 + total / max(rows, 1))


def _affordable(terms: Sequence[tuple[int, str, str]]) -> list[str]:
    """The plain spellings of the rarest terms, as long as few rows hold them; always the rarest one."""
    spelt: list[str] = []
    spent = 0
    for rows, _, word in terms:
        spent += rows
        if spelt and spent > _MAX_ROWS:
            break
        spelt.append(word)
    return spelt


_CONTENT, _CONFIDENCE = COLUMNS.index("content"), COLUMNS.index("confidence")


def _is_sound(row: Sequence[Any]) -> bool:
    """Does a whole row match its checksum, and could we have written it? A damaged one is never told."""
    return bool(
        row_checksum(row[:-1]) == row[-1]
        and isinstance(row[_CONFIDENCE], float)
        and isinstance(row[_CONTENT], str)
        and len(row[_CONTENT]) <= CONTENT_LIMIT
    )


def _labels(text: str | None) -> tuple[str, ...]:
    found = _json(text)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _object(text: str | None) -> dict[str, Any]:
    found = _json(text)
    return found if isinstance(found, dict) else {}


def _json(text: str | None) -> Any:
    """What a column says; nothing when nobody can have written it with us."""
    try:
        return json.loads(text) if text else None
    except (ValueError, TypeError, RecursionError):
        return None
