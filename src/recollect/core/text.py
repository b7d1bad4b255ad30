"""Text as Recollect understands it: cleaning, the normal form behind fingerprints, and the words of the keyword index.

Pure functions. `ANALYZER` names the indexing rules; change it whenever `index_*` would answer differently, so that
stores rebuild their keyword index instead of trusting a stale one. The hook process lives by how little this loads.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from recollect.core.lazy import Lazy

ANALYZER = "2"
CONTENT_LIMIT = 1_000_000  # bytes of one memory: a statement, not an archive

# Scripts written without spaces between words: a run of them is indexed by overlapping pairs.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
_RUN = Lazy(f"([{_UNSPACED}]+)", 0)  # half of what this module would cost to load, for texts that most never see
_WORD = re.compile(r"\w+")
# A name: letters, digits and the separators that occur inside identifiers, paths, versions and flags.
_NAME = Lazy(r"[\w$@.\-/\\:#+]+", 0)
_HUMP = Lazy(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+", 0)
_INNER = Lazy(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\d[A-Za-z]|\w[_.\-/\\:#@$+]+\w", 0)
_SEPARATOR = Lazy(r"[/\\:]", 0)
_MAX_NAME = 200  # characters; longer runs are data, not names

# Control characters other than tab and line ends; format characters that hide, reorder or join text. The zero-width
# joiners stay: emoji and several scripts are misspelt without them.
_CONTROL = Lazy(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]",
    0,
)
_ASCII_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))  # those of it that plain English could hold
_LONE_SURROGATE = Lazy("[\ud800-\udfff]", 0)
_SPACE = re.compile(r"\s+")
_LINE_END = re.compile("[\n\u2028\u2029]")
_BREAK = re.compile("[\t\n\u2028\u2029]+")


def require_storable(text: str, field: str) -> str:
    """`text`, or an error when it cannot be stored faithfully."""
    problem = "a NUL character" if "\0" in text else ""
    if not text.isascii() and _LONE_SURROGATE.search(text):
        problem = problem or "bytes that are not UTF-8"
    if problem:
        from recollect.core.errors import InvalidText

        raise InvalidText(field, f"the text holds {problem}")
    return text


def clean(text: str) -> tuple[str, int]:
    """`text` in NFC without control and invisible characters, and how many were removed."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        unified = unicodedata.normalize("NFC", unified)
    cleaned = _without_controls(unified)
    return cleaned.strip(), len(unified) - len(cleaned)


def _without_controls(text: str) -> str:
    return text.translate(_ASCII_CONTROL) if text.isascii() else _CONTROL.pattern.sub("", text)


def printable(text: str) -> str:
    """`text` as it may reach a terminal or a log: nothing in it can move the cursor or hide."""
    return _without_controls(text.replace("\r", ""))


def one_line(text: str) -> str:
    """`text` as it may reach a terminal on a line of its own: nothing in it begins another line or column."""
    return _BREAK.sub(" ", printable(text))


def indented(text: str, margin: str) -> str:
    """`text` as it may reach a terminal on several lines, each but the first after a margin."""
    return _LINE_END.sub(f"\n{margin}", printable(text))


def normal_form(text: str) -> str:
    """What two spellings of one statement share: case, width, spacing and closing punctuation do not count."""
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip(" \t\n.!…。")


def fingerprint(text: str) -> str:
    """A short, stable digest of the normal form. Two statements share it exactly when they say the same words."""
    from recollect.core.digest import blake2b

    return blake2b(normal_form(text).encode(), digest_size=16).hexdigest()


def names(text: str) -> list[str]:
    """The identifier-like words of `text`: camelCase, snake_case, dotted, paths, flags, versions."""
    if _INNER.search(text) is None:  # most prose holds none
        return []
    runs = _NAME.pattern.findall(text)
    return [name for run in runs if (name := _known_name(run) if len(run) <= _MAX_NAME else _name(run))]


def _name(run: str) -> str:
    """The identifier in a run of letters and separators; empty when it is a plain word."""
    name = run.strip(".:-/\\#+@$")
    return name if 1 < len(name) <= _MAX_NAME and _INNER.search(name) else ""


_known_name = lru_cache(maxsize=32_768)(_name)  # the same words come again and again


def humps(name: str) -> list[str]:
    """The parts an identifier is made of: `parseHTTPResponse_v2` → parse, http, response, v, 2."""
    return [part.lower() for part in _HUMP.pattern.findall(name)]


def whole(name: str) -> str:
    """An identifier as one token that all its spellings share: `verify_jwt`, `verifyJwt` → verifyjwt."""
    return "".join(_WORD.findall(name)).replace("_", "").lower()


def index_body(content: str | None) -> str:
    """Text for the main column: words as they stand, unspaced scripts as overlapping pairs."""
    if not content or content.isascii():
        return content or ""
    return _RUN.pattern.sub(lambda run: f" {_pairs(run.group())} ", content)


ROLES = frozenset({"user", "assistant", "system", "tool"})  # parts in a conversation, not names


def index_names(content: str | None, *labels: str | None) -> str:
    """Text for the names column: every identifier whole and in its parts, and the labels: tags, files, modules, and
    who said it, if that is a name."""
    tokens: dict[str, None] = {}
    kept = [label for label in labels if label and label not in ROLES]
    for name in names(" ".join([content or "", *kept])):
        tokens.update(_name_tokens(name))
    tokens.pop("", None)
    return " ".join([*tokens, *(index_body(label) for label in kept)])


@lru_cache(maxsize=8_192)
def _name_tokens(name: str) -> dict[str, None]:
    """The tokens one identifier is found by: whole, piece by piece, part by part."""
    return dict.fromkeys([whole(name), *(whole(piece) for piece in _SEPARATOR.pattern.split(name)), *humps(name)])


def name_pieces(name: str) -> list[tuple[str, bool]]:
    """The tokens one identifier is found by, and for each whether it is more than a part of a name."""
    parts = frozenset(humps(name))
    return [(token, token not in parts) for token in _name_tokens(name) if token]


def _pairs(run: str) -> str:
    return " ".join([run[i : i + 2] for i in range(len(run) - 1)] + [run[-1]])


def words(text: str) -> list[str]:
    """The plain words of `text`, lower-cased, in order; unspaced runs are kept whole."""
    return [word.lower() for word in _WORD.findall(text)]


def is_unspaced(word: str) -> bool:
    return not word.isascii() and _RUN.search(word) is not None


def unspaced_pairs(run: str) -> list[str]:
    """The index tokens that a query for `run` has to find next to each other."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def split_runs(word: str) -> list[str]:
    """`word` cut where unspaced script begins or ends: `日本go語` → 日本, go, 語."""
    return [word] if word.isascii() and word else [piece for piece in _RUN.pattern.split(word) if piece]


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def excerpt(text: str, limit: int) -> str:
    """The first `limit` characters on one line, cut at a word when possible, with an ellipsis when cut."""
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    if line[limit - 1] != " " and " " in head[limit // 2 :]:
        head = head.rsplit(" ", 1)[0]
    return head.rstrip(" ,;:") + "…"


# --- what a question says ---------------------------------------------------------------------------------------------

_PHRASE = Lazy(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”', 0)
_STOP = frozenset(
    "a about after all also an and any are as at be because been before but by can could did do does doing for "
    "from had has have having he her here hers him his how i if in into is it its just me might more most my no "
    "nor not of on or our out over own please s she should so some such t than that the their them then there "
    "these they this those to too under up us very was we were what when where which while who whom why will with "
    "would you your".split()
)
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


SILENT_WORDS = _STOP | _TALK  # in lower case: they never say what a request is about


def is_telling(word: str) -> bool:
    """Is it none of the words that are in every sentence?"""
    return word.lower() not in _STOP


def is_small_talk(word: str) -> bool:
    """Is a word of a request about the asking rather than about the subject?"""
    return word in _TALK


def split_terms(text: str, *, max_chars: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The telling words, the quoted phrases and the identifiers among the first `max_chars` characters, each once.

    Words that are in every sentence are left out unless there are no others.
    """
    plain = clean(text.replace("\0", " ")[:max_chars])[0]
    quoted = _PHRASE.pattern.findall(plain) if '"' in plain or "“" in plain else ()
    phrases = tuple(dict.fromkeys(straight or curly for straight, curly in quoted))
    found = list(dict.fromkeys(words(plain)))
    telling = [word for word in found if is_telling(word)]
    return tuple(telling or found), phrases, tuple(dict.fromkeys(names(plain)))
