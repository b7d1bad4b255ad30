"""Finding and redacting secrets: pure, linear in the text, the same for every place that keeps one.

Most texts hold nothing: a few substring tests say so, and no rule is compiled before its anchor is seen. Knows
strings only; what happens to a text with a secret is decided by whoever calls. Light to load: hooks screen as well.
"""

from __future__ import annotations

from functools import cache

from recollect.privacy.judge import GONE, LETTERS_PER_PART, is_believed, is_placeholder, looks_random
from recollect.privacy.row import A_DIGIT, AN_OPTION, RANDOM_ENTROPY, Rule, compiled
from recollect.privacy.rules import GUARDS, ID_PREFIXES, KEY_PREFIXES, RULES, SERVICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence

RUN_LEAST = 17  # no token that stands on its own is shorter; the longest English words are
NAME_MOST = 64  # how far before a value its name may begin
BARE_ENTROPY = 3.7  # bits per character of a token that nothing announces
LOOKS_MOST = 4  # passes over one text: the first finds nearly all, the second nearly always nothing
BARE = "random-token"
_ENDING = 3  # characters of a prefix by which it is looked up


class Finding:
    """Where a secret value stands, and which rule knew it."""

    __slots__ = ("end", "rule", "start")

    def __init__(self, rule: str, start: int, end: int) -> None:
        self.rule = rule
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Finding({self.rule!r}, {self.start}, {self.end})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and (self.rule, self.start, self.end) == (other.rule, other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.rule, self.start, self.end))


class Redaction:
    """A text without its secrets; the findings give the spans in the text as it was."""

    __slots__ = ("findings", "text")

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        self.text = text
        self.findings = findings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Redaction) and (self.text, self.findings) == (other.text, other.findings)

    def __hash__(self) -> int:
        return hash((self.text, self.findings))


def scan(text: str) -> tuple[Finding, ...]:
    """Every secret in the text, in order and apart. Where rules overlap, the more specific names the whole stretch."""
    return _shipped().scan(text)


def redact(text: str) -> Redaction:
    """The text with a typed placeholder for each secret. Redacting twice changes nothing more."""
    findings = scan(text)
    if not findings:
        return Redaction(text, ())
    return Redaction(_replaced(text, findings, by=lambda finding: _placeholder(finding, text)), findings)


@cache
def _shipped() -> Scanner:
    return Scanner(RULES)


class Scanner:
    """Tries some rules on texts. Everybody uses the shipped ones; a benchmark leaves some out."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        gates = dict.fromkeys(rule.gate for rule in rules if rule.everywhere)
        self._everywhere = [(gate, self._by_anchor(everywhere=True, gate=gate)) for gate in gates]
        in_runs = self._by_anchor(everywhere=False, gate=())
        self._short_in_runs = {anchor: ranks for anchor, ranks in in_runs.items() if len(anchor) < _ENDING}
        self._in_runs: dict[tuple[str, ...], dict[str, tuple[int, ...]]] = {}
        for anchor in in_runs.keys() - self._short_in_runs.keys():
            self._in_runs.setdefault(tuple(anchor[-_ENDING:]), {})[anchor] = in_runs[anchor]
        self._service_rank = next((rank for rank, rule in enumerate(rules) if rule.anchors is SERVICES), -1)

    def scan(self, text: str) -> tuple[Finding, ...]:
        """Every secret in the text, in order and apart, also where characters that nobody sees stand inside it."""
        findings = self._scan(text)
        if not _hides(text):
            return findings
        view, place = _visible(text)
        seen = [Finding(one.rule, place(one.start), place(one.end - 1) + 1) for one in self._scan(view)]
        return _joined((*seen, *findings)) if seen else findings

    def _scan(self, text: str) -> tuple[Finding, ...]:
        view = _without_placeholders(text if text.isascii() else text.translate(_SINGLETONS))
        findings = found = self._look(view)
        for _ in range(LOOKS_MOST - 1):
            if not found:
                break
            # What was found is blotted out at its own length: it may have hidden another.
            view = _replaced(view, found, by=lambda finding: GONE * (finding.end - finding.start))
            found = self._look(view)
            findings = sorted((*findings, *found), key=lambda finding: finding.start)
        return tuple(findings)

    def _look(self, view: str) -> list[Finding]:
        lowered = _lowered(view)
        hits: dict[tuple[int, int], _Hit] = {}
        for anchor, ranks in self._awake(lowered, view, hits):
            self._collect(hits, ranks, anchor, view, lowered)
        return self._apart(hits) if hits else []

    def _by_anchor(self, *, everywhere: bool, gate: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
        ranks: dict[str, tuple[int, ...]] = {}
        for rank, rule in enumerate(self._rules):
            if rule.everywhere is everywhere and rule.gate == gate and rule.anchors is not SERVICES:
                for anchor in rule.anchors:
                    ranks[anchor] = (*ranks.get(anchor, ()), rank)
        return ranks

    def _awake(self, lowered: str, view: str, hits: dict[tuple[int, int], _Hit]) -> list[tuple[str, tuple[int, ...]]]:
        """The anchors that stand in the text, with the ranks of the rules they wake. Tokens that nothing announces are
        hits already."""
        awake = []
        told = lowered + _traits(lowered)
        for gate, anchors in self._everywhere:
            for sign in gate:
                if sign in told:
                    break
            else:
                if gate:
                    continue
            awake += [(anchor, ranks) for anchor, ranks in anchors.items() if anchor in lowered]
        spans = _runs(lowered) if _has_run(lowered) else []
        if spans:
            runs = "\n".join([lowered[start:end] for start, end in spans])
            awake += [(anchor, ranks) for anchor, ranks in self._short_in_runs.items() if anchor in runs]
            # One pass over the text, rather than one for each of some hundred prefixes.
            for ending in self._in_runs.keys() & set(zip(runs, runs[1:], runs[2:], strict=False)):
                awake += [(anchor, ranks) for anchor, ranks in self._in_runs[ending].items() if anchor in runs]
            mixed = compiled(_MIXED)
            named = [(start, end) for start, end in spans if mixed.search(lowered, start, end)]
            if named:
                names = "\n".join([lowered[max(0, start - NAME_MOST) : end] for start, end in named])
                if self._service_rank >= 0:
                    awake += [(anchor, (self._service_rank,)) for anchor in SERVICES if anchor in names]
                for start, end in named:
                    for span in _bare_tokens(view, start, end):
                        hits[span] = _Hit(len(self._rules), *span)
        return awake

    def _collect(
        self, hits: dict[tuple[int, int], _Hit], ranks: tuple[int, ...], anchor: str, view: str, lowered: str
    ) -> None:
        """Add what the rules of one anchor find, keyed by what they matched: no value is judged twice in vain."""
        guard = compiled(GUARDS[anchor]).match if anchor in GUARDS else None
        after: dict[int, int] = {}  # by rank: the rest of a token is not tried again, and that keeps time linear
        at = lowered.find(anchor)
        while at >= 0:
            if guard is None or guard(view, at):
                leads: dict[str, bool] = {}
                for rank in ranks:
                    rule = self._rules[rank]
                    if at < after.get(rank, 0):
                        continue
                    if rule.ahead:
                        if rule.ahead not in leads:
                            leads[rule.ahead] = compiled(rule.ahead).match(view, at) is not None
                        if not leads[rule.ahead]:
                            continue
                    match = _match_at(rule, view, at)
                    if match:
                        after[rank] = self._judge(hits, rank, match)
            at = lowered.find(anchor, at + 1)

    def _judge(self, hits: dict[tuple[int, int], _Hit], rank: int, match: re.Match[str]) -> int:
        """Add what matched if it is believed, and say from where on the rule is worth trying again."""
        span = start, end = match.span(match.lastindex or 0)
        known = hits.get(span)
        if known and known.rank <= rank:
            return known.end
        if is_believed(self._rules[rank], match, start, end):
            hits[span] = _Hit(rank, start, _to_its_end(self._rules[rank], match.string, end))
            return hits[span].end
        return end if start == match.start() else 0

    def _apart(self, hits: Mapping[tuple[int, int], _Hit]) -> list[Finding]:
        """Overlapping hits become one, named by the most specific rule among them."""
        joined: list[_Hit] = []
        for hit in sorted(hits.values(), key=lambda hit: (hit.start, hit.rank, hit.end)):
            if joined and hit.start < joined[-1].end:
                last = joined[-1]
                joined[-1] = _Hit(min(last.rank, hit.rank), last.start, max(last.end, hit.end))
            else:
                joined.append(hit)
        return [
            Finding(self._rules[hit.rank].name if hit.rank < len(self._rules) else BARE, hit.start, hit.end)
            for hit in joined
        ]


class _Hit:
    __slots__ = ("end", "rank", "start")

    def __init__(self, rank: int, start: int, end: int) -> None:
        self.rank = rank
        self.start = start
        self.end = end


# What a reader does not see and cleaning takes out: a token that is cut by it stands whole in the store afterwards.
_UNSEEN = (
    r"(?:\x1b\[[0-9;]{0,20}+[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    r"\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000e0000-\U000e0fff])"
)
_HIDING = rf"[!-~](?>{_UNSEEN}+)[!-~]"
_SINGLETONS = {0x212A: "K", 0x037E: ";", 0x1FEF: "`"}  # what NFC turns into ASCII


_PLAIN = bytes((*b"\t\n\r", *range(0x20, 0x7F)))


def _hides(text: str) -> bool:
    """Does something that nobody sees stand between two visible characters? Asked of every text, so the plain ones are
    taken out first, which is ten times faster than to look at each with a pattern."""
    odd = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if not odd or compiled(_UNSEEN).search(odd.decode("utf-8", "surrogatepass")) is None:
        return False
    return compiled(_HIDING).search(text) is not None


def _visible(text: str) -> tuple[str, Callable[[int], int]]:
    """The text without what nobody sees, and where each of its characters stood."""
    from bisect import bisect_right  # few texts hide anything

    pieces: list[str] = []
    cuts: list[int] = []  # where in the visible text something was left out
    shifts = [0]  # how much was left out up to there
    done = size = 0
    for match in compiled(_UNSEEN).finditer(text):
        pieces.append(text[done : match.start()])
        size += match.start() - done
        cuts.append(size)
        shifts.append(shifts[-1] + match.end() - match.start())
        done = match.end()
    return "".join((*pieces, text[done:])), lambda at: at + shifts[bisect_right(cuts, at)]


def _joined(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Overlapping findings as one, named by the one that begins first."""
    joined: list[Finding] = []
    for finding in sorted(findings, key=lambda one: one.start):
        if joined and finding.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Finding(last.rule, last.start, max(last.end, finding.end))
        else:
            joined.append(finding)
    return tuple(joined)


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
    if GONE in text:
        text = text.replace(GONE, "\1")
    if "[secret:" not in text:
        return text
    return compiled(_PLACEHOLDER).sub(lambda match: GONE * len(match[0]) if match[1] in _names() else match[0], text)


_PLACEHOLDER = r"\[secret:([a-z0-9-]{2,32})(?: [^\s\]]{1,4}…)?\]"


def _lowered(text: str) -> str:
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()


@cache
def _names() -> frozenset[str]:
    return frozenset((BARE, *(rule.name for rule in RULES)))


_SHORT_WORDS = rf"(?>(?:[^\s\0]{{0,{RUN_LEAST - 1}}}+[\s\0]++)*)"
_RUN = r"[^\s\0]*+"
# Letters and digits in turn: without such a stretch in a run, no service key is there.
_MIXED = r"(?<![a-z0-9])(?:[a-z]{1,12}+\d|\d{1,12}+[a-z])[a-z0-9]{5}"


# Every byte that is no blank looks the same: one search then tells whether any run is long enough.
_SAME = bytes(ord(" ") if chr(byte).isspace() or not byte else ord("x") for byte in range(128)) + b"x" * 128
_LONG_RUN = b"x" * RUN_LEAST


def _has_run(lowered: str) -> bool:
    """Whether there may be a stretch long enough to hold a token."""
    return _LONG_RUN in lowered.encode("utf-8", "surrogatepass").translate(_SAME)


def _traits(lowered: str) -> str:
    """What a gate may ask for that is no substring, spelled as one."""
    option = AN_OPTION if "-" in lowered and lowered.count(" -") > lowered.count(" - ") else ""
    for digit in "0123456789":  # ten looks for one character cost less than one for a class of them
        if digit in lowered:
            return option + A_DIGIT
    return option


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
    match = compiled(pattern).match(text, at)
    return match.end() if match else at


# --- tokens that nothing announces ------------------------------------------------------------------------------------

# An own prefix and a random body. Paths, addresses and base64 texts are made of others.
_BARE_TOKEN = (
    r"(?:(?<![A-Za-z0-9_+/=.~%@#&:\\-])|(?<=\\[nrt]))((?:[A-Za-z][A-Za-z0-9]{1,11}[_.:-]){1,3})"
    r"([A-Za-z0-9_-]{20,300}+)(?![A-Za-z0-9_+/=~%@:-])"
)


def _bare_tokens(view: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where tokens stand that are told by their randomness alone: capitals, small letters and digits in quick turn, or
    after a prefix that says key any long body."""
    found = []
    for match in compiled(_BARE_TOKEN).finditer(view, start, end):
        prefix, body = match[1].lower().rstrip("_.:-"), match[2]
        words = compiled(_SEPARATOR).split(prefix)
        says_key = not KEY_PREFIXES.isdisjoint(words)
        if compiled(_ID).fullmatch(body) or words[0] in _DIGESTS or (words[-1] in ID_PREFIXES and not says_key):
            continue
        if compiled(_THREE_KINDS).match(body):
            least = BARE_ENTROPY
        elif says_key and compiled(_TWO_KINDS).fullmatch(body):
            least = RANDOM_ENTROPY
        elif compiled(_NO_DIGEST).fullmatch(body):
            least = BARE_ENTROPY
        else:
            continue
        if looks_random(body, LETTERS_PER_PART, least) and not is_placeholder(match[0]):
            found.append(match.span())
    return found


_ID = r"01[A-Za-z0-9]{20,24}"  # a common form of ids that open nothing
_SEPARATOR = r"[_.:-]"
_DIGESTS = ("sha1", "sha256", "sha384", "sha512", "md5", "h1")
_NO_DIGEST = r"(?=(?:[^g-z]{0,60}+[g-z]){6})[a-z0-9]{32,}"  # longer than ids are, and with letters that no digest has
_TWO_KINDS = r"[a-z0-9]{24,}|[A-Z0-9]{24,}"
_THREE_KINDS = r"(?=(?:[^A-Z]{0,60}+[A-Z]){3})(?=(?:[^a-z]{0,60}+[a-z]){3})(?=(?:[^0-9]{0,60}+[0-9]){3})"


def _match_at(rule: Rule, view: str, at: int) -> re.Match[str] | None:
    regex = compiled(rule.pattern)
    for back in rule.back:
        if back <= at and (match := regex.match(view, at - back)):
            return match
    return None


_REST = r"(?!@)(?>(?:(?!&[\w.-]{1,40}=)[^\s\"'`<>,;)\]}\\\0])*)"


def _to_its_end(rule: Rule, view: str, end: int) -> int:
    """A bare value is matched up to its first doubtful character; once believed, it goes on to the next break."""
    return _end_of(_REST, view, end) if rule.shape in ("random", "service", "password", "sure") else end
