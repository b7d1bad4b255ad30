"""Finding and redacting secrets: pure, linear in the text, the same for a new memory and for an old store.

Most texts hold nothing: a few substring tests say so, and no rule is compiled before its anchor is seen. Knows
strings only; what happens to a flagged memory is decided by whoever calls.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from recollect.privacy.rules import ABOUT_WORDS, COMMON_WORDS, HARMLESS_WORDS, OPENER_WORDS, RULES, SERVICES, Rule

RUN_LEAST = 17  # no token that stands on its own is shorter; the longest English words are
NAME_MOST = 64  # how far before a value its name may begin
LETTERS_PER_PART = 3.4  # mean length of a stretch of letters or of digits: longer in words than in random strings
LETTERS_PER_PART_OF_SERVICE_KEY = 8.0  # beside a service's name less is asked
RANDOM_LEAST = 8  # characters, below which chance and choice look the same
PASSWORD_LEAST = 4
KEY_LEAST = 48  # characters between the markers of a private key
LOOKS_MOST = 4  # passes over one text: the first finds nearly all, the second nearly always nothing
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
    findings = found = _look(view)
    for _ in range(LOOKS_MOST - 1):
        if not found:
            break
        # What was found is blotted out at its own length: it may have hidden another.
        view = _replaced(view, found, by=lambda finding: _GONE * (finding.end - finding.start))
        found = _look(view)
        findings = sorted((*findings, *found), key=lambda finding: finding.start)
    return tuple(findings)


def redact(text: str) -> Redaction:
    """The text with a typed placeholder for each secret. Redacting twice changes nothing more."""
    findings = scan(text)
    return Redaction(_replaced(text, findings, by=lambda finding: _placeholder(finding, text)), findings)


def _look(view: str) -> list[Finding]:
    lowered = _lowered(view)
    hits: dict[tuple[int, int], _Hit] = {}
    for anchor, rank in _awake(lowered):
        _collect(hits, rank, anchor, view, lowered)
    return _apart(hits) if hits else []


def _replaced(text: str, findings: Sequence[Finding], *, by: Callable[[Finding], str]) -> str:
    pieces: list[str] = []
    done = 0
    for finding in findings:
        pieces += (text[done : finding.start], by(finding))
        done = finding.end
    return "".join((*pieces, text[done:]))


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
            for anchor in rule.anchors:
                ranks[anchor] = (*ranks.get(anchor, ()), rank)
    return ranks


_EVERYWHERE = _by_anchor(everywhere=True)
_IN_RUNS = _by_anchor(everywhere=False)
_SERVICE_RANK = next(rank for rank, rule in enumerate(RULES) if rule.anchors is SERVICES)

_SHORT_WORDS = rf"(?:[^\s\0]{{0,{RUN_LEAST - 1}}}+[\s\0]++)*+"
_RUN = r"[^\s\0]*+"
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
    spans = []
    at, end = 0, len(lowered)
    while at < end:
        start = _end_of(_SHORT_WORDS, lowered, at)
        at = _end_of(_RUN, lowered, start)
        if at - start >= RUN_LEAST:
            spans.append((start, at))
    return spans


def _end_of(pattern: str, text: str, at: int) -> int:
    """Where the pattern, matched from here, ends; here, when it does not match."""
    match = _regex(pattern).match(text, at)
    return match.end() if match else at


@dataclass(frozen=True, slots=True)
class _Hit:
    rank: int
    start: int
    end: int


def _collect(hits: dict[tuple[int, int], _Hit], rank: int, anchor: str, view: str, lowered: str) -> None:
    """Add what one rule finds at one anchor, keyed by what it matched, so that no value is judged twice in vain."""
    rule = RULES[rank]
    regex = _regex(rule.pattern)
    at = lowered.find(anchor)
    while at >= 0:
        after = at + 1
        match = _match_at(regex, rule, view, at)
        if match:
            span = start, end = match.span(match.lastindex or 0)
            known = hits.get(span)
            if known and known.rank <= rank:
                after = known.end
            elif _believed(rule, match, start, end):
                hits[span] = _Hit(rank, start, _to_its_end(rule, view, end))
                after = hits[span].end
            elif start == match.start():
                after = end  # the rest of a token not believed is not tried again: that is what keeps time linear
        at = lowered.find(anchor, max(after, at + 1))


def _match_at(regex: re.Pattern[str], rule: Rule, view: str, at: int) -> re.Match[str] | None:
    for back in rule.back:
        if back <= at and (match := regex.match(view, at - back)):
            return match
    return None


_REST = r"(?!@)(?:(?!&[\w.-]{1,40}=)[^\s\"'`<>,;)\]}\\\0])*+"


def _to_its_end(rule: Rule, view: str, end: int) -> int:
    """A bare value is matched up to its first doubtful character; once believed, it goes on to the next break."""
    return _end_of(_REST, view, end) if rule.shape in ("random", "service", "password") else end


def _apart(hits: Mapping[tuple[int, int], _Hit]) -> list[Finding]:
    """Overlapping hits become one, named by the most specific rule among them."""
    joined: list[_Hit] = []
    for hit in sorted(hits.values(), key=lambda hit: (hit.start, hit.rank, hit.end)):
        if joined and hit.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = _Hit(min(last.rank, hit.rank), last.start, max(last.end, hit.end))
        else:
            joined.append(hit)
    return [Finding(RULES[hit.rank].name, hit.start, hit.end) for hit in joined]


def _believed(rule: Rule, match: re.Match[str], start: int, end: int) -> bool:
    """Whether what matched is a secret, and not a drawing, a name, a type or a call."""
    value = match.string[start:end]
    if rule.shape == "password" and (len(value) < PASSWORD_LEAST or _is_common_word(value)):
        return False
    if _GONE in match[0] or _is_placeholder(value):
        return False
    if rule.shape == "token":
        return not rule.entropy or _entropy(value) >= rule.entropy
    if rule.shape == "block":
        return max(map(len, value.split("-----"))) >= KEY_LEAST
    if rule.shape == "literal":
        return not _is_common_word(value) and not match[0].startswith(f"://{value}:")
    if rule.shape == "spoken":
        return _looks_chosen(value)
    if rule.shape == "password":
        return _is_password(value, match, start, end)
    looseness = LETTERS_PER_PART_OF_SERVICE_KEY if rule.shape == "service" else LETTERS_PER_PART
    return _looks_random(value, looseness, rule.entropy) and _is_secret(rule, value, match, start, end)


_DRAWN = (
    r"[xX*•]{4,}|\.{3}|…|EXAMPLE(?:KEY)?$|\$\{|\$\(|\{\{|^[<\[{(]|^\$\w+$|^%[({\w]\w*[)}%]?\w?$|^\[?secret:"
    r"|(?i:(?:^|[\W_])(?:your|example|placeholder|insert|redacted|replace|changeme|environ|getenv)(?:$|[\W_]))"
)


def _is_placeholder(value: str) -> bool:
    return _regex(_DRAWN).search(value) is not None


def _is_common_word(value: str) -> bool:
    return value.lower().strip("=:;,.").replace("-", "").replace("_", "") in COMMON_WORDS


def _name_of(match: re.Match[str], start: int) -> tuple[str, str, str]:
    """What stands before the anchor, the name from the anchor on, and what joins it to the value."""
    before = match.string[max(0, match.start() - 32) : match.start()].rpartition(_GONE)[2]
    after = match.string[match.start() : start]
    name = after[: _end_of(_NAME, after, 0)]
    return before, name.rstrip(), after[len(name) :]


_NAME = r"[\w .-]*+"


def _is_secret(rule: Rule, value: str, match: re.Match[str], start: int, end: int) -> bool:
    if "://" in value or _is_code(match.string, start, end):
        return False
    if match.start() == start:
        return True
    before, name, join = _name_of(match, start)
    if _is_harmless(before, name) or _names_itself(before + name, value):
        return False
    if name.lower() == "key" and not _regex(_QUALIFIED).search(before) and _regex(_DIGEST).fullmatch(value):
        return False
    return "," not in join or _is_argument(rule, value, join)


_QUALIFIED = r"[\w.-]$"
_DIGEST = r"[0-9A-Fa-f-]{32,}+"


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


def _is_harmless(before: str, name: str) -> bool:
    """Whether the name speaks about a secret, or of a key that opens nothing."""
    words = [word.lower() for word in _regex(_WORDS).findall(f"{before}{name}")[-2:]]
    if words[-1:] and (words[-1] in ABOUT_WORDS or (words[-1] in OPENER_WORDS and words[0] in HARMLESS_WORDS)):
        return True
    return "::" in before and _regex(_TYPE_PATH).search(before) is not None


def _is_password(value: str, match: re.Match[str], start: int, end: int) -> bool:
    view = match.string
    quoted, digit = _is_quoted(view, start), _regex(_DIGIT).search(value) is not None
    only_pass = _regex(_ONLY_PASS).match(view, match.start()) is not None
    if not (digit or (quoted and not only_pass) or view[match.start()].isupper()) or _is_code(view, start, end):
        return False
    before, name, join = _name_of(match, start)
    if _is_harmless(before, name) or _names_itself(before + name, value):
        return False
    if quoted:
        sure = "\n" not in join and (digit or not ("," in join or only_pass))
        return sure and _regex(_SENTENCE_OR_PATH).search(value) is None
    if "," in join or (only_pass and join != "="):
        return False
    return (name.isupper() and join == "=") or (digit and _regex(_BEYOND_NUMBER).search(value) is not None)


_TYPE_PATH = r"::\w*$"
_ONLY_PASS = r"(?i)pass(?![a-z])"
_DIGIT = r"\d"
_SENTENCE_OR_PATH = r"\s|^\.{0,2}/|^~/|://"
_BEYOND_NUMBER = r"[^\d.,:/-]"


def _is_quoted(view: str, start: int) -> bool:
    return start > 0 and view[start - 1] in QUOTES


def _is_code(view: str, start: int, end: int) -> bool:
    """Unquoted, and a call, an attribute, or the next key."""
    if _is_quoted(view, start):
        return False
    return bool(_regex(_CALL_OR_KEY).match(view, end) or _regex(_CODE_PATH).fullmatch(view, start, end))


_CALL_OR_KEY = r"[(\[{]|:(?:\s|$)|[ \t]{0,2}=[\s>]"
_CODE_PATH = r"[A-Za-z_]\w{0,63}+(?:(?:\.|->|::)[A-Za-z_]\w{0,63}+){1,9}+"


def _looks_random(value: str, letters_per_part: float, entropy: float) -> bool:
    """Letters and digits in short alternation, not words, dates, paths or versions joined by punctuation."""
    if len(value) < RANDOM_LEAST:
        return False
    words = _regex(_ALNUM).findall(value)
    if len(set(_regex(_SIGN).findall(value))) < SIGNS_LEAST:
        words = [] if _regex(_BLANK).search(value) else [word for word in words if not _regex(_PLAIN).fullmatch(word)]
    letters = sum(map(len, words))
    if letters < RANDOM_LEAST or letters * letters_per_part < len(value):
        return False
    parts = len(_regex(_PARTS).findall(" ".join(words)))
    return parts * letters_per_part >= letters and _entropy(value) >= entropy


def _looks_chosen(value: str) -> bool:
    """A password said in a sentence: a digit inside a word, and somewhere a capital or a sign."""
    odd = any(
        len(word) >= PASSWORD_LEAST and not _regex(_PLAIN).fullmatch(word) for word in _regex(_ALNUM).findall(value)
    )
    return odd and _regex(_CAPITAL_OR_SIGN).search(value) is not None


_CAPITAL_OR_SIGN = r"[A-Z]|[^\w\s.,;:/()-]"
_ALNUM = r"[A-Za-z0-9]++"
_SIGN = r"[^\w\s./-]"
_BLANK = r"\s"
_PLAIN = r"\d++|[A-Za-z]++\d{0,3}|[vV]?\d++[a-z]{0,2}"
_WORDS = r"[A-Z]?[a-z]++|[A-Z]++"
_PARTS = rf"{_WORDS}|\d++"


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return math.log2(len(value)) - sum(map(_weight, map(value.count, set(value)))) / len(value)


@cache
def _weight(count: int) -> float:
    return count * math.log2(count)
