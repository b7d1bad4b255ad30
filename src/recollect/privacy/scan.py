"""Finding and redacting secrets: pure, linear in the text, the same for a new memory and for an old store.

Most texts hold nothing: a few substring tests say so, and no rule is compiled before its anchor is seen. Knows
strings only; what happens to a flagged memory is decided by whoever calls.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from recollect.privacy.rules import RULES, SERVICES, Rule

RUN_LEAST = 17  # no token that stands on its own is shorter; the longest English words are
NAME_MOST = 64  # how far before a value its name may begin
LOOK_AHEAD = 4096  # how far past its anchor a pattern that begins before it may reach
LETTERS_PER_WORD = 3.4  # mean length of the letter and digit stretches: words exceed it, random strings do not
LETTERS_PER_SERVICE_KEY = 8.0
KEY_LEAST = 48  # characters between the markers of a private key
SIGNS_LEAST = 5  # so many different signs, and a value is generated rather than written
QUOTES = "\"'`"
_GONE = "\0"  # what an earlier redaction left: nothing may match across it


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret value stands, and which rule knew it."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets; the findings give the spans in the text as it was."""

    text: str
    findings: tuple[Finding, ...]


def scan(text: str) -> tuple[Finding, ...]:
    """Every secret in the text, in order and apart. Where rules overlap, the more specific names the whole stretch."""
    view = _without_placeholders(text)
    lowered = _lowered(view)
    found = [hit for anchor, rank in _awake(lowered) for hit in _hits(rank, anchor, view, lowered)]
    return _apart(found) if found else ()


def redact(text: str) -> Redaction:
    """The text with a typed placeholder for each secret. Redacting twice changes nothing more."""
    findings = scan(text)
    pieces: list[str] = []
    done = 0
    for finding in findings:
        pieces += (text[done : finding.start], _placeholder(finding, text))
        done = finding.end
    return Redaction("".join((*pieces, text[done:])), findings)


def _placeholder(finding: Finding, text: str) -> str:
    shown = text[finding.start : finding.end][: _shown(finding, text)]
    return f"[secret:{finding.rule} {shown}…]" if shown else f"[secret:{finding.rule}]"


def _shown(finding: Finding, text: str) -> int:
    """How much of the value is a public prefix. Nothing, when the stretch grew beyond the token itself."""
    start = text[finding.start : finding.start + 16].lower()
    rules = (rule for rule in RULES if rule.name == finding.rule)
    return max((rule.shown for rule in rules if start.startswith(rule.anchors)), default=0)


def _without_placeholders(text: str) -> str:
    """The text at its own length, with what was redacted before made unmatchable."""
    if _GONE in text:
        text = text.replace(_GONE, "\1")
    if "[secret:" not in text:
        return text
    return _regex(_PLACEHOLDER).sub(lambda match: _GONE * len(match[0]) if match[1] in _names() else match[0], text)


_PLACEHOLDER = r"\[secret:([a-z0-9-]{2,32})(?: [^\s\]]{1,4}…)?\]"


def _lowered(text: str) -> str:
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()


@cache
def _names() -> frozenset[str]:
    return frozenset(rule.name for rule in RULES)


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _by_anchor(*, everywhere: bool) -> dict[str, tuple[int, ...]]:
    ranks: dict[str, tuple[int, ...]] = {}
    for rank, rule in enumerate(RULES):
        if rule.everywhere is everywhere and rule.anchors is not SERVICES:
            ranks |= {anchor: (*ranks.get(anchor, ()), rank) for anchor in rule.anchors}
    return ranks


_EVERYWHERE = _by_anchor(everywhere=True)
_IN_RUNS = _by_anchor(everywhere=False)
_SERVICE_RANK = next(rank for rank, rule in enumerate(RULES) if rule.anchors is SERVICES)

_SHORT_WORDS = rf"(?:\S{{0,{RUN_LEAST - 1}}}+\s++)*+"
# Letters and digits in turn: without such a stretch in a run, no service key is there.
_MIXED = r"(?<![a-z0-9])(?:[a-z]{1,12}+\d|\d{1,12}+[a-z])[a-z0-9]{5}"


def _awake(lowered: str) -> list[tuple[str, int]]:
    """The anchors that stand in the text, with the rank of each rule they wake."""
    awake = [(anchor, rank) for anchor, ranks in _EVERYWHERE.items() if anchor in lowered for rank in ranks]
    spans = _runs(lowered)
    if spans:
        runs = "\n".join([lowered[start:end] for start, end in spans])
        awake += [(anchor, rank) for anchor, ranks in _IN_RUNS.items() if anchor in runs for rank in ranks]
        mixed = _regex(_MIXED)
        names = "\n".join(
            [lowered[max(0, start - NAME_MOST) : end] for start, end in spans if mixed.search(lowered, start, end)]
        )
        if names:
            awake += [(anchor, _SERVICE_RANK) for anchor in SERVICES if anchor in names]
    return awake


def _runs(lowered: str) -> list[tuple[int, int]]:
    """The stretches without a blank that are long enough to hold a token."""
    short, run = _regex(_SHORT_WORDS), _regex(r"\S*+")
    spans = []
    at, end = 0, len(lowered)
    while at < end:
        start = short.match(lowered, at).end()  # type: ignore[union-attr]
        at = run.match(lowered, start).end()  # type: ignore[union-attr]
        if at - start >= RUN_LEAST:
            spans.append((start, at))
    return spans


@dataclass(frozen=True, slots=True)
class _Hit:
    rank: int
    start: int
    end: int


def _hits(rank: int, anchor: str, view: str, lowered: str) -> Iterator[_Hit]:
    rule = RULES[rank]
    regex = _regex(rule.pattern)
    at = lowered.find(anchor)
    while at >= 0:
        match = _match_at(regex, rule, view, at)
        after = at + 1
        if match:
            start, end = match.span(match.lastindex or 0)
            if _believed(rule, match, start, end):
                end = _to_its_end(rule, view, end)
                after = max(after, end)
                yield _Hit(rank, start, end)
        at = lowered.find(anchor, after)


def _match_at(regex: re.Pattern[str], rule: Rule, view: str, at: int) -> re.Match[str] | None:
    if not rule.back:
        return regex.match(view, at)
    return regex.search(view, max(0, at - rule.back), at + LOOK_AHEAD)


_REST = r"(?:(?!&[\w.-]{1,40}=)[^\s\"'`<>,;)\]}\\\0])*+"


def _to_its_end(rule: Rule, view: str, end: int) -> int:
    """A bare value is matched up to its first doubtful character; once believed, it goes on to the next break."""
    if rule.shape not in ("random", "service", "password") or view[end : end + 1] in ("", '"', "'", "`"):
        return end
    return _regex(_REST).match(view, end).end()  # type: ignore[union-attr]


def _apart(hits: list[_Hit]) -> tuple[Finding, ...]:
    """Overlapping hits become one, named by the most specific rule among them."""
    joined: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.rank, hit.end)):
        if joined and hit.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = _Hit(min(last.rank, hit.rank), last.start, max(last.end, hit.end))
        else:
            joined.append(hit)
    return tuple(Finding(RULES[hit.rank].name, hit.start, hit.end) for hit in joined)


def _believed(rule: Rule, match: re.Match[str], start: int, end: int) -> bool:
    """Whether what matched is a secret, and not a drawing, a name, a type or a call."""
    view = match.string
    value = view[start:end]
    if _GONE in match[0] or _GONE in view[max(0, start - 1) : end + 1] or _is_placeholder(value):
        return False
    match rule.shape:
        case "token":
            return not rule.entropy or _entropy(value) >= rule.entropy
        case "block":
            return max(map(len, value.split("-----"))) >= KEY_LEAST
        case "literal":
            return not _is_common_word(value) and not match[0].startswith(f"://{value}:")
        case "spoken":
            return len(value) >= 6 and _looks_random(value, LETTERS_PER_WORD, 2.5)
        case "password":
            return _is_password(value, match, start, end)
        case "random":
            return _is_secret(rule, value, match, start, end) and _looks_random(value, LETTERS_PER_WORD, rule.entropy)
        case "service":
            return _is_secret(rule, value, match, start, end) and _looks_random(
                value, LETTERS_PER_SERVICE_KEY, rule.entropy
            )


_DRAWN = (
    r"[xX*•]{4,}|\.{3}|…|EXAMPLE(?:KEY)?$|\$\{|\$\(|\{\{|^[<\[{(]|^\$\w+$|^%[({\w]\w*[)}%]?\w?$|^\[?secret:"
    r"|(?i:(?:^|[\W_])(?:your|example|placeholder|insert|redacted|replace|changeme|environ|getenv)(?:$|[\W_]))"
)


def _is_placeholder(value: str) -> bool:
    return _regex(_DRAWN).search(value) is not None


_COMMON = frozenset(
    "true false yes no on off none null nil undefined nan empty unset required optional string str text bytes "
    "number int integer bool boolean any object void unknown never hidden default todo tbd change_me changeme "
    "changeit replace_me fixme redacted masked removed secret token key value password passwd passphrase passcode "
    "pass pwd password1 pass1 pw user username port host mypassword yourpassword newpassword oldpassword "
    "wrongpassword currentpassword testpassword invalid missing valid correct incorrect".split()
)


def _is_common_word(value: str) -> bool:
    return value.lower().replace("-", "").replace("_", "").replace(" ", "") in _COMMON


# A name that ends like this holds something about the secret, not the secret.
_ABOUT = frozenset(
    "field label placeholder hint name type path file dir url uri endpoint len length size min max limit policy "
    "reset changed created updated expires expiry at count index id ids input prompt regex pattern rule rules "
    "validator error errors msg message title text required enabled strength manager store env var ref arn column "
    "prefix format version hash sha md digest checksum used usage board frame frames lifetime ttl duration mgr role".split()
)
_HARMLESS = (
    r"(?:public|pub|primary|foreign|cache|sort|partition|unique|object|idempotency|storage|map|index|lookup|group|row"
    r"|dedupe?|hash|sha\d*|commit|checksum|digest|fingerprint|session|trace|span|host|routing|join|order|state|shard"
    r"|bucket|tenant|child|translation)[ _.-]?key"
    r"|(?:next|page|continuation|cursor|sync|cancel\w*|max|prompt|input|output|total|completion)[ _.-]?tokens?"
    r"|::\w*$"
)


def _name_of(match: re.Match[str], start: int) -> tuple[str, str, str]:
    """What stands before the anchor, the name from the anchor on, and what joins it to the value."""
    before = match.string[max(0, match.start() - 32) : match.start()]
    after = match.string[match.start() : start]
    name = _regex(_NAME).match(after)[0]  # type: ignore[index]
    return before, name.rstrip(), after[len(name) :]


_NAME = r"[\w .-]*+"


def _is_secret(rule: Rule, value: str, match: re.Match[str], start: int, end: int) -> bool:
    if "://" in value or _is_code(match.string, start, end):
        return False
    before, name, join = _name_of(match, start)
    if _is_about(name) or _regex(_HARMLESS).search((before + name).lower()) or _names_itself(before + name, value):
        return False
    return "," not in join or _is_argument(rule, value, join)


def _is_argument(rule: Rule, value: str, join: str) -> bool:
    """Whether a value after a comma belongs to the name before it: `define('KEY', 'value')`, not the next of a list."""
    if "\n" in join:
        return False
    return rule.shape == "service" or (
        join[-1] in QUOTES and (_regex(_BLANK).search(value) is None or len(value) >= 40)
    )


def _names_itself(name: str, value: str) -> bool:
    """A constant spelled out: FORCE_CHANGE_PASSWORD = "force_change_password"."""
    plain = value.lower().replace("_", "").replace("-", "")
    return len(plain) < 32 and name.lower().replace("_", "").replace("-", "").endswith(plain)


def _is_about(name: str) -> bool:
    words = _regex(_WORDS).findall(name)
    return bool(words) and words[-1].lower() in _ABOUT


def _is_password(value: str, match: re.Match[str], start: int, end: int) -> bool:
    before, name, join = _name_of(match, start)
    if len(value) < 4 or _is_common_word(value) or _is_about(name) or _names_itself(before + name, value):
        return False
    view = match.string
    digit = _regex(_DIGIT).search(value) is not None
    only_pass = _regex(_ONLY_PASS).match(name) is not None
    if _is_quoted(view, start):
        sure = "\n" not in join if digit else not ("," in join or "\n" in join or only_pass)
        return sure and _regex(_SENTENCE_OR_PATH).search(value) is None
    if _is_code(view, start, end) or "," in join or (only_pass and join != "="):
        return False
    return (name.isupper() and join == "=") or (digit and _regex(_BEYOND_NUMBER).search(value) is not None)


_ONLY_PASS = r"(?i)pass(?![a-z])"
_DIGIT = r"\d"
_SENTENCE_OR_PATH = r"\s|^\.{0,2}/|^~/|://"
_BEYOND_NUMBER = r"[^\d.,:/-]"


def _is_quoted(view: str, start: int) -> bool:
    return view[start - 1] in QUOTES


def _is_code(view: str, start: int, end: int) -> bool:
    """Unquoted, and a call, an attribute, or the next key."""
    if _is_quoted(view, start):
        return False
    return bool(_regex(_CALL_OR_KEY).match(view, end) or _regex(_CODE_PATH).fullmatch(view, start, end))


_CALL_OR_KEY = r"[(\[{]|:(?:\s|$)|[ \t]{0,2}=[\s>]"
_CODE_PATH = r"[A-Za-z_]\w*+(?:(?:\.|->|::)[A-Za-z_]\w*+)++"


def _looks_random(value: str, letters_per_part: float, entropy: float) -> bool:
    """Letters and digits in short alternation, not words, dates, paths or versions joined by punctuation."""
    words = _regex(_ALNUM).findall(value)
    if len(set(_regex(_SIGN).findall(value))) < SIGNS_LEAST:
        words = [] if _regex(_BLANK).search(value) else [word for word in words if not _regex(_PLAIN).fullmatch(word)]
    letters = sum(map(len, words))
    if letters < 8 or letters * letters_per_part < len(value):
        return False
    parts = len(_regex(_PARTS).findall(" ".join(words)))
    return parts * letters_per_part >= letters and _entropy(value) >= entropy


_ALNUM = r"[A-Za-z0-9]++"
_SIGN = r"[^\w\s./-]"
_BLANK = r"\s"
_PLAIN = r"\d++|[A-Za-z]++\d{0,3}|[vV]?\d++[a-z]{0,2}"
_WORDS = r"[A-Z]?[a-z]++|[A-Z]++"
_PARTS = rf"{_WORDS}|\d++"


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * math.log2(share) for share in shares)
