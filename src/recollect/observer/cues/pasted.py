"""Which parts of a prompt are not the words of the person who sent it.

Mails, chats, tickets, pages, diffs, code, logs and quotations are pasted or dictated: they say what others wrote or
what a text is to contain. `part_pasted` takes them out, so that what is left can be judged as the person's own. Where
no end can be told, everything up to the end of the prompt counts as pasted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from recollect.core.lazy import Lazy

# --- what begins words of others -------------------------------------------------------------------------------------

_GREETING = r"^\s{0,8}(?:dear|hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))\b"
_TO_OTHERS = Lazy(
    r"^\s{0,8}dear\b[^.?!]{0,60}$|" + _GREETING + r" (?:\w{2,12} )?(?:team|all|everyone|everybody|folks|guys|colleagues"
    r"|customers?|users?|friends|both|there,? team|sir|madam|ladies)\b[^.?!]{0,30}[,:!]?\s{0,4}$"
)
_GREETS = Lazy(_GREETING + r"[^.?!]{0,40},\s{0,4}$")
_CLOSES = Lazy(
    r"^\s{0,8}(?:(?:with |my )?(?:best|kind|kindest|warm|warmest)(?: regards| wishes)?|regards|thanks(?: in advance)?"
    r"|thank you|many thanks|cheers|sincerely|yours(?: \w{4,12})?|br|greetings|all the best)\s{0,2}[,.!]?\s{0,4}$"
)
_SIGNATURE = Lazy(
    r"^\s{0,8}(?!(?:Always|Never|Use|Run|Do|Don't|Please|No|Stop|Avoid|From|We"
    r"|You)\b)(?:[-–—~]{1,2} ?)?[A-Z][\w.'-]{0,20}(?: [\w.&'-]{1,20}){0,3}\s{0,4}$",
    flags=0,
)
_SUBJECT_LINE = Lazy(r"^\W{0,4}(?:subject|betreff)\W{0,3}: ?\S")
_HEADER = Lazy(r"^\W{0,4}(?:from|to|cc|subject|sent|date|reply-to)\W{0,3}: ?\S")
_FIELD = Lazy(
    r"^\W{0,4}(?:title|body|labels?|assignees?|reporter|author|milestone|description|priority|severity|summary|status"
    r"|type|steps to reproduce|(?:expected|actual)(?: \w{4,10})?|acceptance criteria|environment)\W{0,3}:"
)
_FORWARDED = Lazy(
    r"^\W{0,40}(?:begin )?(?:forwarded|original) message\b|\b(?:wrote|writes|schrieb)\s{0,2}:\s{0,4}$"
    r"|\b(?:opened|commented|reviewed|replied|posted|asked|answered|edited|created|reported)\b(?: \S{1,40}){0,6}"
    r" (?:ago|on \w{3,9} \d{1,2})\b|^\W{0,4}describe the bug\b"
)
_CHAT = Lazy(
    r"^\s{0,8}\[?(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?\]?[ \t]{1,4}"
    r"(?:<?@?[\w.-]{1,30}(?:,? [\w.-]{1,20}){0,2}>?:|<@?[\w.-]{1,30}>)\s"
    r"|^\s{0,8}@?[\w.-]{1,30}(?: [\w.-]{1,20}){0,2}"
    r",?[ \t]{1,4}(?:[–—-] )?(?:(?:today|yesterday) )?(?:at )?[\[(]?\d{1,2}:\d\d(?: ?[AP]M)?[\])]?\s{0,4}$"
)
_SUBJECT = (
    r"\b(?!(?:i|we|i've|we've|i'd|already|just|also|have|had|keep|kept|always|ever|never|once|then|without|as|what)\b)"
    r"[\w'.)`\"-]{1,40} (?:also |just |once |already |clearly |always )?"
)
_TEXT = (
    r"(?:message|text|line|sentence|paragraph|e-?mail|mail|comment|string|snippet|page|article|post|tweet|quote|excerpt"
    r"|output|error|log|issue|ticket|title|description|docstring|heading|headline|answer|reply|diff|readme|thread"
    r"|transcript|prompt|banner|warning|label|caption|slogan|body|footer|letter|report|review|feedback)"
)
_OPENS_TEXT = Lazy(
    r"^(?!\W{0,3}(?:for|about|regarding|in|on|as for)\b)[^.?!:\n]{0,60}\b(?:this|the|that|following|an?|his|her|their)"
    r" (?:\w{2,16} ){0,2}?" + _TEXT + r"\b[^.?!:\n]{0,60}:\s{0,4}$|^\W{0,4}[\w./-]{1,80}\.[a-z]{1,5}\W{0,3}:\s{0,4}$"
)
_SPEAKER = Lazy(
    r"^\s{0,4}(?!(?:Always|Never|Do|Don'?t|Use|Note)\b)(@?[A-Z][\w.-]{0,20}(?: [A-Z][\w.-]{0,20})?): \S", flags=0
)
_MEANT_FOR_US = r"(?![^\n]{0,120}\b(?:claude|agents?|gemini|cursor|copilot|memory|rules?)\b[^\n:]{0,20}:)"
_HANDS_OVER = (
    r"(?:write|use|add|put|insert|append|post|send|commit|print|show|set|change|update|display|got|found|received"
    r"|here(?:'s| is)|this is|see|look at|check|read|parse|test|implement|fix|handle|close|with)"
)
_INTRODUCES = Lazy(
    r"(?:"
    + _SUBJECT
    + r"(?:says?|said|reads?|states?|stated|claims?|claimed|thinks?|wrote|writes|told (?:me|us)|prints?|printed|shows?"
    r"|sent|forwarded|shared|gave|left|suggests?|suggested|recommends?|recommended|warns?|warned|answered|replied"
    r"|asked|mentions?|mentioned|saying"
    r"|reading|stating|telling|puts it|expects?|contains?|equals?|returns?|returned)\b"
    r"|^\W{0,3}(?:(?:please|pls|can you|could you|now|and|also|then|ok)\W{1,3}){0,3}(?:translate|summari[sz]e|rewrite"
    r"|rephrase|reword|paraphrase|proof-?read|spell-?check|shorten|polish|explain|review|analy[sz]e|parse|classify"
    r"|quote|answer|reply|respond|(?:fix|correct|check|improve) the (?:grammar|spelling|typos?|wording|tone))\b"
    r"|\b" + _HANDS_OVER + _MEANT_FOR_US + r" (?:\w{1,12} ){0,3}?(?:this|the|that"
    r"|following"
    r"|an?|his|her|their) (?:\w{2,16} ){0,2}?" + _TEXT + r"\b"
    r"|\b" + _TEXT + r" (?:from|by) \w"
    r"|\b(?:i|we) (?:just |also |once )?(?:found|got|read|saw|received|copied|pasted|came across)\b"
    r"|\b(?!(?:here|that|there|it|what|let|who|he|she|how|where|team|repo|project|company|group|org"
    r"|today)')[a-z]{2,20}'s?"
    r" (?:\w{2,16} ){0,2}?(?:list|rules|guidelines|notes|instructions|requirements|conventions|policy|advice"
    r"|suggestions?"
    r"|wording|comments|" + _TEXT + r")\b"
    r")[^.?!:\n]{0,60}:(?=\s|$)"
)

# --- lines that no one types -----------------------------------------------------------------------------------------

_PRINTED = Lazy(
    r"^\s{0,12}(?:\$ |\+{3} |-{3} |@@ |diff --git|at \S{1,200}[:(]\S{0,200}\d|File \"|Traceback "
    r"|\S{1,80}[@:]\S{0,80}[$%#] |\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|time=|\[?\d\d:\d\d:\d\d|\[[\w:. -]{2,40}\] "
    r"|(?:[\w.-]{1,20} )?(?:WARN(?:ING)?|INFO|DEBUG|ERROR|ERR!|FATAL|FAIL(?:ED)?|PASS(?:ED)?)(?!\w)[: \t\[(]"
    r"|(?:error|warning|fatal)[: \t\[(])",
    flags=0,  # upper case matters
)
_REMARK = Lazy(r"^\s{0,40}(?://|/\*|\*/|<!--|-- |;; )")
_CODE = Lazy(
    r"^\s{0,40}(?:(?:async )?def \w{1,60}\(|class \w{1,60}\s?[:({]|import [\w.]{1,60}(?: as \w{1,30})?;?\s{0,4}$"
    r"|from \S{1,60}"
    r" import |(?:const|let|var) \w{1,60} ?=|#include|(?:public|private|static|fn|func|function) [^.?!]{1,80}[({])"
    r"|[;{}]\s{0,4}$|^\s{0,40}[\w.]{1,60}\([^\n]{0,120}\);?\s{0,4}$",
    flags=0,
)
_KEYED = Lazy(r"^\s{0,20}(?:- )?[a-z][\w-]{0,30}:(?: [^\s,.]{1,40})?\s{0,4}$")
_REPLIED_TO = Lazy(r"^\s{0,8}>")
_HASHED = Lazy(r"^\s{0,40}#\s?\w")
_ADDED = Lazy(r"^\+(?!\+)")
_TAKEN = Lazy(r"^-(?!-)")
_INDENTED = Lazy(r"^(?: {4}|\t)\s{0,40}\S")
_CELLS = Lazy(r"\S\t+\S")
_QUOTED = Lazy(
    r'"(?=(?:[^\s"]{1,60}\s{1,4}){3})[^"]{15,600}"|“(?=(?:[^\s”]{1,60}\s{1,4}){3})[^”]{15,600}”'
    r"|«(?=(?:[^\s»]{1,60}\s{1,4}){3})[^»]{15,600}»|`(?=(?:[^\s`]{1,60}\s{1,4}){6})[^`]{15,600}`"
    r"|(?:(?<!\w)'|‘)(?=(?:\S{1,60}\s{1,4}){3})(?:[^'\n]|(?<=\w)'(?=\w)){15,600}'(?!\w)"
    r"|<(\w{1,12})[^<>\n]{0,80}>(?=(?:[^\s<]{1,60}\s{1,4}){3})[^<]{15,600}</\1>"
)
_OPEN, _CLOSE = "\ue000", "\ue001"  # stand around the number of a quotation that was taken out
_HELD = Lazy(f"{_OPEN}(\\d{{1,4}}){_CLOSE}")


def part_pasted(text: str) -> tuple[str, list[str]]:
    """The person's own words, with a mark in place of each quotation, and the quotations."""
    quotations: list[str] = []
    own = "\n".join(_own_lines(text.replace(_OPEN, "").replace(_CLOSE, "").split("\n")))
    pieces: list[str] = []
    start = 0
    for found in _QUOTED.finditer(own):
        pieces += [own[start : found.start()], f"{_OPEN}{len(quotations)}{_CLOSE}"]
        quotations.append(found.group())
        start = found.end()
    return "".join([*pieces, own[start:]]), quotations


def restore_quotations(text: str, quotations: Sequence[str]) -> str:
    """The words of a person with what they quote."""
    return _HELD.pattern.sub(lambda mark: quotations[int(mark[1])], text)


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """Each line as far as the person wrote it; a pasted one leaves an empty line."""
    lines = lines[: _letter_start(lines)]
    pasted = _pasted_in_blocks(lines)
    introduced = False
    for place, line in enumerate(lines):
        if not line.strip():
            introduced = False
        if introduced or place in pasted:
            yield ""
            continue
        if _OPENS_TEXT.match(line):
            yield line
            return
        if found := _INTRODUCES.search(line):
            if not line[found.end() :].strip():  # a page, a list or a letter follows
                yield line
                return
            introduced = True
            yield line[: found.end()]
        else:
            yield line


def _letter_start(lines: Sequence[str]) -> int:
    """The line from which on a mail, a chat or a ticket is pasted; all lines where there is none."""
    closed = any(_CLOSES.match(line) and after.strip() and _SIGNATURE.match(after) for line, after in pairwise(lines))
    starts = [place for place, line in enumerate(lines) if _FORWARDED.search(line) or _CHAT.match(line)]
    starts += [place for place, line in enumerate(lines) if _TO_OTHERS.match(line) or (closed and _GREETS.match(line))]
    starts += [place for place, line in enumerate(lines) if _SUBJECT_LINE.match(line)]
    starts += _talk_start(lines)
    for pattern in (_HEADER, _FIELD):
        fields = [place for place, line in enumerate(lines) if pattern.match(line)]
        starts += fields[:1] if len(fields) > 1 else []
    if closed and not starts:
        return 0
    return min(starts, default=len(lines))


def _talk_start(lines: Sequence[str]) -> list[int]:
    """The line where a talk of several begins, each line with its speaker: one of them speaks twice."""
    speakers = {place: found[1] for place, line in enumerate(lines) if (found := _SPEAKER.match(line))}
    several = 1 < len(set(speakers.values())) < len(speakers)
    return [min(speakers)] if several else []


def _pasted_in_blocks(lines: Sequence[str]) -> set[int]:
    """The lines of printed output, diffs, code and tables, and those that follow them without a gap."""
    pasted: set[int] = set()
    block: list[int] = []
    for place, line in enumerate([*lines, ""]):
        if line.strip():
            block.append(place)
            continue
        some = [lines[each] for each in block]
        pasted.update(block[_pasted_start(some) :])
        pasted.update(each for each in block if _CELLS.search(lines[each]))
        pasted.update(each for each in block if _INDENTED.match(lines[each]) and _stands_apart(lines, each, pasted))
        block = []
    return pasted


def _stands_apart(lines: Sequence[str], place: int, pasted: set[int]) -> bool:
    """Does an indented line begin a block of its own or go on with one?"""
    before = lines[place - 1].rstrip() if place else "own"
    return not before or before.endswith(":") or place - 1 in pasted


def _pasted_start(block: Sequence[str]) -> int:
    """The place in a block of lines from which on it is pasted."""
    starts = [place for place, line in enumerate(block) if _PRINTED.match(line) or _REMARK.match(line)]
    added, taken = ([place for place, line in enumerate(block) if sign.match(line)] for sign in (_ADDED, _TAKEN))
    if added and (taken or starts):
        starts += [*added, *taken]
    quoted = [place for place, line in enumerate(block) if _REPLIED_TO.match(line)]
    if quoted and quoted[-1] - quoted[0] >= len(quoted):  # a line between them goes on with the quotation
        starts += quoted
    code = [place for place, line in enumerate(block) if _CODE.search(line)]
    keyed = [place for place, line in enumerate(block) if _KEYED.match(line)]
    code += keyed if len(keyed) > 1 else []
    if code:
        starts += [*code, *(place for place, line in enumerate(block) if _HASHED.match(line))]
    return min(starts, default=len(block))
