"""Whether what a rule matched is a secret, or only looks like one: a drawing, a name, a type, a call, a sentence.

Each shape of a rule has its judge. Pure, and asked only where a rule's pattern matched.
"""

from __future__ import annotations

import re
from functools import cache
from math import log2

from recollect.privacy.row import EDGE, RANDOM_ENTROPY, Rule, compiled
from recollect.privacy.rules import (
    ABOUT_WORDS,
    COMMON_WORDS,
    HARMLESS_WORDS,
    KEY_WORDS,
    OPENER_WORDS,
    PROSE_WORDS,
    PUBLISHED,
    SURE_NAME,
    TECHNICAL,
    WEAK_PASSWORDS,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LETTERS_PER_PART = 3.4  # mean length of a stretch of letters or of digits: longer in words than in random strings
LETTERS_PER_PART_OF_SERVICE_KEY = 8.0  # beside a service's name less is asked
RANDOM_LEAST = 8  # characters, below which chance and choice look the same
PASSWORD_LEAST = 4
LETTERS_PER_WORD = 3.0  # at least, in an identifier made of words
KEY_LEAST = 48  # characters between the markers of a private key
SIGNS_LEAST = 5  # so many different signs, and a value is generated rather than written
KEY_SHORTEST = 16  # characters of a key that is known by its name and by looking generated
NAME_LONGEST = 64  # characters of a type's name
WORDS_SHARE = 0.55  # of a type's name are words, at least
ONE_LINE = 60  # characters: a text no longer than this, with nothing but a name and a value in it, is a note
JUDGED_MOST = 512  # characters of a value that are looked at: some patterns ask how it ends
ANYBODY = "anonymous"  # who logs in so gives an address or nothing for a password
QUOTES = "\"'`"
GONE = "\0"  # what an earlier redaction left: nothing may match across it


def is_believed(rule: Rule, match: re.Match[str], start: int, end: int) -> bool:
    """Whether what matched is a secret, and not a drawing, a name, a type or a call."""
    value = match.string[start:end]
    shape = rule.shape
    if shape == "password" and (len(value) < PASSWORD_LEAST or _is_common_word(value)):
        return value.lower() in WEAK_PASSWORDS and _is_unchanged_default(match, start, end)
    if GONE in match[0] or is_placeholder(value) or value in PUBLISHED:
        return False
    if shape == "token":
        if rule.entropy and _entropy(value) < rule.entropy:
            return False
        return start > match.start() or _has_edge(match.string, start) or _is_generated(value)
    if shape == "block":
        return max(map(len, value.split("-----"))) >= KEY_LEAST
    if shape in _JUDGES:
        return _JUDGES[shape](value[:JUDGED_MOST], match, start, end)
    looseness = LETTERS_PER_PART_OF_SERVICE_KEY if shape == "service" else LETTERS_PER_PART
    return looks_random(value, looseness, rule.entropy) and _is_secret(rule, value, match, start, end)


def _has_edge(view: str, start: int) -> bool:
    return compiled(EDGE).match(view, start) is not None


def _is_generated(value: str) -> bool:
    """Beside something that says so already: letters and digits in turn, however long the turns."""
    return looks_random(value, LETTERS_PER_PART_OF_SERVICE_KEY, RANDOM_ENTROPY)


_DRAWN = (
    r"[xX*•]{4,}|^%s|%s$|%\(\w+\)s|(?i:dead_?beef)|\.{3}|…|EXAMPLE(?:KEY)?$|\$\{|\$\(|\{\{|^[<\[{(]|^\$\w+$|^%[({\w]\w*[)}%]?\w?$|^\[?secret:"
    r"|(?i:(?:^|[\W_])(?:your|example|placeholder|insert|redacted|replace|changeme|environ|getenv)(?:$|[\W_]))"
)


def is_placeholder(value: str) -> bool:
    return compiled(_DRAWN).search(value) is not None


def _is_common_word(value: str, *, bare: bool = False) -> bool:
    """A word that stands where a secret would and is none; a `bare` one may also be a word of the sentence around."""
    word = value.lower().strip("=:;,.").replace("-", "").replace("_", "")
    return word in COMMON_WORDS or (bare and word in PROSE_WORDS)


def _name_of(match: re.Match[str], start: int) -> tuple[str, str, str]:
    """What stands before the anchor, the name from the anchor on, and what joins it to the value."""
    before = match.string[max(0, match.start() - 32) : match.start()].rpartition(GONE)[2]
    after = match.string[match.start() : start]
    name = after[: _name_end(after)]
    return before, name.rstrip(), after[len(name) :]


_NAME = r"[\w .-]*+"


def _name_end(text: str) -> int:
    match = compiled(_NAME).match(text)
    return match.end() if match else 0


def _is_secret(rule: Rule, value: str, match: re.Match[str], start: int, end: int) -> bool:
    if "://" in value or value.startswith("//") or _is_code(match.string, start, end) or _is_type_name(value):
        return False
    if compiled(_FOLDERS).search(value) and not _ends_in_token(value):
        return False
    if match.start() == start:
        return True
    before, name, join = _name_of(match, start)
    if _is_harmless(before, name) or _names_itself(before + name, value):
        return False
    if name.lower() == "key" and not compiled(_QUALIFIED).search(before) and compiled(_DIGEST).fullmatch(value):
        return False
    return "," not in join or _is_argument(rule, value, join, match, start, end)


def _ends_in_token(path: str) -> bool:
    """An address that is a secret by its last part, as those of webhooks are."""
    last = path.rpartition("/")[2]
    return len(last) >= 20 and compiled(_MIXED_KINDS).match(last) is not None and _is_generated(last)


_MIXED_KINDS = r"(?=[^A-Z]{0,60}+[A-Z])(?=[^a-z]{0,60}+[a-z])(?=[^0-9]{0,60}+[0-9])"
_FOLDERS = r"^(?:\.{0,2}/)?(?:[a-z][a-z0-9._-]*/)[^/]*/|^/?(?:[a-z._-]+/){2}"
_QUALIFIED = r"[\w.-]$"
_DIGEST = r"[0-9A-Fa-f-]{32,}+"


def _is_argument(rule: Rule, value: str, join: str, match: re.Match[str], start: int, end: int) -> bool:
    """Whether a value after a comma belongs to the name before it: `define('KEY', 'value')`, not the next of a list."""
    if "\n" in join or not (rule.shape == "service" or _is_pair(match, start, end)):
        return False
    return rule.shape == "service" or (
        join[-1] in QUOTES and (compiled(_BLANK).search(value) is None or len(value) >= 40)
    )


def _is_pair(match: re.Match[str], start: int, end: int) -> bool:
    """Whether a name and a value are the first and the last of a call, or an option and what follows it."""
    before = match.string[max(0, match.start() - 64) : match.start()]
    if compiled(_OPTION_BEFORE).search(before):
        return True
    return (
        compiled(_FIRST_OF_CALL).search(before) is not None
        and compiled(_LAST_OF_CALL).match(match.string, end) is not None
    )


_OPTION_BEFORE = r"[\"'`]-{1,2}[\w-]*$"
_FIRST_OF_CALL = r"[({]\s{0,3}\\?[\"'`][\w.-]*$"
_LAST_OF_CALL = r"\\?[\"'`]?\s{0,3}(?:[)}]|,\s{0,3}(?:\d++|[Tt]rue|[Ff]alse|nil|null|None)\s{0,3}\)|$)"


def _names_itself(name: str, value: str) -> bool:
    """A constant spelled out: FORCE_CHANGE_PASSWORD = "force_change_password"."""
    plain = value.lower().replace("_", "").replace("-", "")
    return len(plain) < 32 and name.lower().replace("_", "").replace("-", "").endswith(plain)


def _is_harmless(before: str, name: str) -> bool:
    """Whether the name speaks about a secret, or of a key that opens nothing."""
    words = [word.lower() for word in compiled(_WORDS).findall(f"{before}{name}")[-2:]]
    if words[-1:] and (words[-1] in ABOUT_WORDS or (words[-1] in OPENER_WORDS and words[0] in HARMLESS_WORDS)):
        return True
    return "::" in before and compiled(_TYPE_PATH).search(before) is not None


def _is_password(value: str, match: re.Match[str], start: int, end: int) -> bool:
    view = match.string
    quoted, digit = _is_quoted(view, start), compiled(_DIGIT).search(value) is not None
    only_pass = compiled(_ONLY_PASS).match(view, match.start()) is not None
    before, name, join = _name_of(match, start)
    exported = (
        name.isupper() and join.rstrip(QUOTES) == "=" and "-" in value
    )  # NAME='some-words': no program names one so
    if _is_code(view, start, end) or (_speaks_of_secrets(value) and not exported):
        return False
    if _is_harmless(before, name) or _names_itself(before + name, value):
        return False
    if quoted and "," in join and not _is_pair(match, start, end):
        return False
    if quoted and only_pass and compiled(_USER_NEAR).search(view, max(0, match.start() - 120), end + 80):
        return compiled(_SENTENCE_OR_PATH).search(value) is None and not _is_common_word(value, bare=True)
    if quoted:
        vague = ("," in join and not compiled(_DEFINED).search(before)) or (
            only_pass and not (before[-1:] in ("_", ".") and "=" in join)
        )
        sure = ("\n" not in join or "value" in join) and (digit or not vague)
        return sure and compiled(_SENTENCE_OR_PATH).search(value) is None
    if "," in join:
        return False
    if only_pass and join != "=" and not (join.strip() in (":", "=") and name != "PASS" and _looks_chosen(value)):
        return False
    if (name.isupper() and join == "=") or (digit and compiled(_BEYOND_NUMBER).search(value) is not None):
        return True
    return not _is_common_word(value, bare=True) and _stands_in_settings(value, match, start, end, join)


def _is_literal(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """What a place that holds nothing but a secret holds, unless it is a common word."""
    if value.lower() in WEAK_PASSWORDS and match[0].rstrip().endswith("</"):
        return _is_unchanged_default(match, start, end)
    return not _is_common_word(value) and not match[0].startswith(f"://{value}:") and not _speaks_of_secrets(value)


def _is_argument_of_command(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """What a command was given as its password."""
    if (
        _is_common_word(value, bare=True)
        or compiled(_METAVARIABLE).fullmatch(value)
        or compiled(_FILE_OR_PATH).search(value)
    ):
        return False
    return not _is_code(match.string, start, end) and not _speaks_of_secrets(value)


def _is_argument_of_option(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """What follows `--password`: any value beside further options, something chosen where the line may be prose."""
    head = _line_before(match.string, match.start())
    if not compiled(_OPTION_HEAD).search(head) or not _is_argument_of_command(value, match, start, end):
        return False
    if match[0][:3].lower() == "key" and not compiled(_KEY_OPTION).search(head):
        return looks_random(value, LETTERS_PER_PART, RANDOM_ENTROPY)
    if match.string[match.start() : start].rstrip("\"'").endswith("=") or _looks_chosen(value):
        return True
    further = compiled(_FURTHER_OPTION)
    rest = match.string[end : end + 200].partition("\n")[0]
    return len(value) >= PASSWORD_LEAST and bool(further.search(head[: head.rfind(" ") + 1]) or further.search(rest))


def _is_in_statement(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """Whether the words before say that this is SQL: PASSWORD 'x' is said of a role that is created or changed."""
    if match[0][:10].lower() == "identified" and _is_quoted(match.string, start):
        return _is_literal(value, match, start, end)
    before = match.string[max(0, match.start() - 200) : match.start()].rpartition(";")[2]
    if match[0][:10].lower() == "identified" and not compiled(_WHOSE).search(before):
        return False
    return compiled(_STATEMENT).search(before) is not None and _is_literal(value, match, start, end)


def _is_encoded_login(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """Base64 of a user, a colon and a password."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4)).decode()
    except (Error, UnicodeDecodeError):
        return False
    return plain.isprintable() and ":" in plain[1:-1]


def _is_chosen(value: str, match: re.Match[str], start: int, end: int) -> bool:
    if "[" in value or not _looks_chosen(value) or ANYBODY in match[0].lower():
        return False
    return not _is_code(match.string, start, end) and not _speaks_of_secrets(value)


def _is_on_a_line(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """`password X` on a line of its own, as some programs spell their settings."""
    if not compiled(_KEY_HEAD).fullmatch(_line_before(match.string, match.start())) or _speaks_of_secrets(value):
        return False
    if value.lower() in WEAK_PASSWORDS:
        return _is_unchanged_default(match, start, end)
    if _is_common_word(value, bare=True) or _is_code(match.string, start, end):
        return False
    return _looks_chosen(value) or _has_neighbours(match.string, match.start(), end, blank=True)


def _is_spoken(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """A password said in a sentence: quoted, or nothing that a sentence would say there."""
    value = value.rstrip(".,;:!?)")
    if len(value) < PASSWORD_LEAST or value[0] == "-" or _speaks_of_secrets(value):
        return False
    if _is_code(match.string, start, end):
        return False
    said = match.string[match.start() : start]
    if ANYBODY in _line_before(match.string, match.start()).lower():
        return False
    if compiled(_ONLY_PASS).match(said):
        if said.startswith("PASS") or not compiled(_SAID_FIRMLY).search(said):
            return False
        return _looks_chosen(value) and compiled(_LETTER_AND_DIGIT).match(value) is not None and "/" not in value
    if compiled(_SAID_OUT).search(said):
        quoted = _is_quoted(match.string, start) and value.isalnum() and not _is_common_word(value, bare=True)
        return quoted or _looks_chosen(value) or compiled(_SEVERAL_WORDS).fullmatch(value) is not None
    return _looks_chosen(value) and (
        compiled(_CAPITAL_OR_SIGN).search(value) is not None or compiled(_WORD_AND_NUMBER).fullmatch(value) is not None
    )


def _is_sure(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """Beside a name that holds nothing but a secret: a UUID, a digest, a long number, or words."""
    before, name, join = _name_of(match, start)
    found = compiled(_OWN_NAME).search(before + name)
    whole = found[0] if found else ""
    is_key, holds_secret = compiled(_KEY_SHAPE).fullmatch(value), compiled(_HOLDS_SECRET).search(whole)
    if "," in join or not compiled(SURE_NAME).search(whole):
        return False
    if _is_harmless(before, name) or _names_itself(before + name, value) or _is_code(match.string, start, end):
        return False
    if is_key or (len(value) >= KEY_SHORTEST and _is_generated_key(value)):
        return True
    if not holds_secret:
        return False
    if value.isdigit():
        return len(value) >= RANDOM_LEAST
    if len(value) < RANDOM_LEAST or _is_common_word(value, bare=True) or _speaks_of_secrets(value):
        return False
    if _is_quoted(match.string, start):
        return "\n" not in join and compiled(_SENTENCE_OR_PATH).search(value) is None and "." not in value
    return _stands_in_settings(value, match, start, end, join) or (name.isupper() and join == "=")


def _is_generated_key(value: str) -> bool:
    return compiled(_KEY_LETTERS).fullmatch(value) is not None and _is_generated(value) and not _is_type_name(value)


def _is_keyed(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """What follows "the api key is": a UUID, a digest, or something random."""
    return compiled(_KEY_SHAPE).fullmatch(value) is not None or looks_random(value, LETTERS_PER_PART, RANDOM_ENTROPY)


def _is_called(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """The second of two texts that a call takes: a word only if the first is an address or the call wants both."""
    user = match[1] if match.lastindex and match.lastindex > 1 else ""
    if user.lower() == ANYBODY or compiled(_NO_USER).search(user):
        return False
    if _speaks_of_secrets(value) or _is_common_word(value):
        return False
    if _looks_chosen(value):
        return "[" not in value and "/" not in value
    if compiled(_PATH_OR_WORDS).search(value):
        return False
    at = match.start()
    return "@" in user or compiled(_ASKS_FOR_BOTH).search(match.string, max(0, at - 24), at + 24) is not None


def _is_certain(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """Where nothing but a password can stand, whatever it is."""
    return compiled(_METAVARIABLE).fullmatch(value) is None


def _is_of_server(value: str, match: re.Match[str], start: int, end: int) -> bool:
    """What a line of a server's own file gives it: the line holds nothing before."""
    if not compiled(_KEY_HEAD).fullmatch(_line_before(match.string, match.start())):
        return False
    return (
        not _is_common_word(value, bare=True)
        and not _is_code(match.string, start, end)
        and not _speaks_of_secrets(value)
    )


_JUDGES: Mapping[str, Callable[[str, re.Match[str], int, int], bool]] = {
    "password": _is_password,
    "literal": _is_literal,
    "argument": _is_argument_of_command,
    "option": _is_argument_of_option,
    "statement": _is_in_statement,
    "encoded": _is_encoded_login,
    "chosen": _is_chosen,
    "line": _is_on_a_line,
    "spoken": _is_spoken,
    "sure": _is_sure,
    "keyed": _is_keyed,
    "called": _is_called,
    "certain": _is_certain,
    "server": _is_of_server,
}
_WHOSE = r"(?i)\b(?:user|role|to|login|account)\s{1,4}(?:if\s(?:not\s)?exists\s{1,4})?\S{1,128}\s{0,4}$"
_USER_NEAR = r"(?i)(?<![a-z])(?:user(?:name)?|login|e?mail)[\"']?\s{0,3}(?::|=|=>)\s{0,3}[\"'][^\"'\n]{1,64}[\"']"
_NO_USER = r"[\s/{}<>]|^\.|^[#$]"
_PATH_OR_WORDS = r"[\s/{}<>()=]|^\.|\.\w{1,4}$|^[#$]|^[A-Z]"
_ASKS_FOR_BOTH = (
    r"(?i)(?:basic_?auth|plainauth|digestauth|ntlmauth|networkcredential|passwordauth|(?:password)?credentials?|mysqli|mysql_connect|pdo|ldap_bind"
    r"|getconnection|simple_bind_s|usernametoken)"
)
_DEFINED = r"(?i)define\(\s{0,3}[\"']\w*$"
_METAVARIABLE = r"[A-Z][A-Z_-]*+|[a-z]++(?>(?:_[a-z]++)+)"
_FILE_OR_PATH = r"^\.{0,2}/|^~|://|\.(?:key|pem|txt|json|ya?ml|env|crt|cer|p12|pfx|jks|py|js|ts|go|md)$|^[A-Za-z]:\\"
_OPTION_HEAD = r"(?:^|[\s\"'`(\[,])-{1,2}[\w.-]*$"
_KEY_OPTION = r"(?i)(?:api|access|secret|account|auth|private|encryption|license)-?$"
_FURTHER_OPTION = r"(?:^|\s)-{1,2}\w"
_STATEMENT = r"(?i)\b(?:create|alter|set|grant|encrypted)\b"
_KEY_HEAD = r"[ \t]*+(?>(?:[\w-]++\.)*)"
_SAID_OUT = r"(?i)\b(?:is|was|ist|es|est|är|er|jest|to|as|это)\b[\s:]{0,4}[\"'`“«(]?$|[:是为は][ \t]*+[\"'`“«(]?$"
_SAID_FIRMLY = r"(?::|\bis)[ \t]*+[\"'`]?$"
_SEVERAL_WORDS = r"[a-z]{3,}(?:-[a-z]{3,}){2,}"
_WORD_AND_NUMBER = r"[A-Za-z]{4,}\d{2,}"
_OWN_NAME = r"[\w.-]*+(?: [\w.-]++)?$"
_KEY_SHAPE = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{20,}|[0-9A-F]{20,}"
_KEY_LETTERS = r"(?:[a-z]{2,8}://)?[A-Za-z0-9_+/=.~:-]{16,512}"
_HOLDS_SECRET = r"(?i)secret|signing|encrypt|master|jwt|hmac|passphrase"


def _is_unchanged_default(match: re.Match[str], start: int, end: int) -> bool:
    """`password = "password"` beside a name of a user or of a host: bad, and what opens the door."""
    view = match.string
    if "," in view[match.start() : start] or compiled(_INSIDE_CALL).search(_line_before(view, match.start())):
        return False
    if not _is_quoted(view, start) and not compiled(_BLANK_TO_END).match(view, end):
        return False
    near = compiled(_LOGIN_NEAR)
    return near.search(view, max(0, match.start() - 200), match.start()) is not None


_BLANK_TO_END = r"[ \t]{0,8}(?:$|[\r\n]|</)"
_INSIDE_CALL = r"\w\(|[{\[]|^\s*+[#*/]|\.\w++\s?$"
_LOGIN_NEAR = (
    r"(?i)(?:^|[\s<\"'])(?:\w{1,20}_)?(?:user(?:name)?|login|host(?:name)?|server|e?mail|uid|url)"
    r"[\"']?[ \t]{0,3}[:=>]?[ \t]{0,3}[\"']?"
    r"(?:[\w.+-]{1,64}@[\w-]{1,64}\.|[\w-]{1,64}\.[\w.-]{2,64}|localhost\b|root\b|admin\b|postgres\b|sa\b)"
)


# --- where settings stand ---------------------------------------------------------------------------------------------


def _stands_in_settings(value: str, match: re.Match[str], start: int, end: int, join: str) -> bool:
    """A bare word after a name for a password, on a line of its own: settings are written so, code hardly ever is."""
    view = match.string
    if len(value) < PASSWORD_LEAST or compiled(_REFERENCE).search(value):
        return False
    if compiled(_CONNECTION).search(_line_before(view, match.start())):
        return compiled(_LINE_END).match(view, end) is not None
    if not compiled(_LINE_END).match(view, end) or not compiled(_SETTING_HEAD).fullmatch(
        _line_before(view, match.start())
    ):
        return False
    if compiled(_INNER_SIGN).search(value):
        return True
    told = _has_neighbours(view, match.start(), end) or len(view) < ONE_LINE
    if not value.islower():
        return told or (join == "=" and not value[0].isupper())
    return told or ":" in join or "：" in join or join == "="


def _line_before(view: str, at: int) -> str:
    """What stands on the line before a place, as far as anybody needs it."""
    near = view[max(0, at - 200) : at]
    return near[near.rfind("\n") + 1 :].rpartition("\\n")[2]


def _has_neighbours(view: str, at: int, end: int, *, blank: bool = False) -> bool:
    """Whether the line before or after says who or where, as settings do."""
    before = view[max(0, at - 300) : at].rstrip(" \t").rpartition("\n")[0].rstrip().rpartition("\n")[2]
    after = view[end : end + 300].partition("\n")[2].lstrip("\r\n").partition("\n")[0]
    for line in (before, after):
        told = compiled(_NEIGHBOUR_BLANK if blank else _NEIGHBOUR).match(line)
        if told and told[1].lower() not in COMMON_WORDS:
            return True
    return False


_LINE_END = r"[ \t]*+(?:$|[\r\n]|\\n|#|;[ \t]*+(?:\n|$)|;\w[\w ]{1,30}+=|[;\"'])"
_SETTING_HEAD = r"[ \t]*+(?:[-*>#;]++[ \t]*+|//[ \t]*+|(?:export|setx?|ENV|ARG)[ \t]++)?[\w .\[\]-]{0,60}+"
_CONNECTION = (
    r"(?i)(?:server|data source|host|user id|uid|database|endpoint|driver|accountname)\s{0,2}=[^;\n]{1,120}+;"
    r"(?>(?:[^;\n]{1,120}+;)*)\s{0,2}$"
)
_INNER_SIGN = r"[A-Za-z0-9][!@#$%^&*+?=~][A-Za-z0-9!@#$%^&*+?=~]*$"
_REFERENCE = (
    r"^[$%@&*/<]|[.]{2}|^[a-z]+(?:_[a-z]+)+$|^[a-z]+[A-Z]\w*$"
    r"|^[\w]+\.[a-z_]+$|^[\w-]+/[\w/-]+$|^[A-Z][a-z]+[A-Z]"
)
_WHO = (
    r"(?i:user(?:name)?|login|host(?:name)?|server|database|db|dbname|port|e?mail|uid|account|driver|url|adapter|domain"
    r"|address|endpoint|bind_?dn|ssid|database_?name|name|region)"
)
_NEIGHBOUR = (
    rf"[\s\w.\-\"'\[\]]{{0,40}}?{_WHO}[\"'\]]{{0,2}}\s{{0,3}}[:=]\s{{0,3}}"
    r"[\"']?([^\s\"'(){}\[\]<>$]+)[\"']?[,;]?\s*$"
)
_NEIGHBOUR_BLANK = rf"\s{{0,16}}(?:machine|{_WHO})[ \t]{{1,8}}([^\s]+)\s*$"


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
        return compiled(_BETWEEN_QUOTES).match(view, start, end) is not None
    if compiled(_TYPE_NAME).fullmatch(view, start, end):
        return True
    if compiled(_CALL_OR_KEY).match(view, end):
        return True
    if not compiled(_CODE_PATH).fullmatch(view, start, end):
        return False
    return not any(
        len(part) >= 14 and looks_random(part, LETTERS_PER_PART, RANDOM_ENTROPY) for part in view[start:end].split(".")
    )


def _is_type_name(value: str) -> bool:
    """Words with capitals, glued together: Ed25519PrivateKey. Of a generated key far less is words."""
    if len(value) > NAME_LONGEST or not value[:1].isupper() or not value.isalnum():
        return False
    words = compiled(_CAPITALISED).findall(value)
    return len(words) > 1 and sum(map(len, words)) > WORDS_SHARE * len(value)


_CAPITALISED = r"[A-Z][a-z]{2,}"
_CALL_OR_KEY = r"[(\[{]|:(?:\s|$)|[ \t]{0,2}=[\s>]"
_BETWEEN_QUOTES = r"[+),;][\w+ ),;.:]*+[();={}]|\.\w++\("  # the string ended here, and what follows is the program
_TYPE_NAME = r"(?:[A-Z]{1,3}\d?[a-z]{2,}\d?){1,2}(?>(?:[A-Z]{1,3}\d?[a-z]{2,}\d?)+)[A-Z]?"
_CODE_PATH = r"[A-Za-z_]\w{0,63}+(?>(?:(?:\.|->|::)[A-Za-z_]\w{0,63}+){1,9})[!?]?"


def looks_random(value: str, letters_per_part: float, entropy: float) -> bool:
    """Letters and digits in short alternation, not words, dates, paths or versions joined by punctuation."""
    if len(value) < RANDOM_LEAST:
        return False
    words = compiled(_ALNUM).findall(value)
    if len(set(compiled(_SIGN).findall(value))) < SIGNS_LEAST:
        words = (
            [] if compiled(_BLANK).search(value) else [word for word in words if not compiled(_PLAIN).fullmatch(word)]
        )
    letters = sum(map(len, words))
    if letters < RANDOM_LEAST or letters * letters_per_part < len(value):
        return False
    parts = len(compiled(_PARTS).findall(" ".join(words)))
    return parts * letters_per_part >= letters and _entropy(value) >= entropy


def _looks_chosen(value: str) -> bool:
    """Letters with digits or signs among them, as people choose passwords; no path, version, date, address or name."""
    if len(value) < PASSWORD_LEAST + 1 or compiled(_NOT_CHOSEN).search(value) or compiled(TECHNICAL).fullmatch(value):
        return False
    if compiled(_INNER_SIGN).search(value):
        return True
    return compiled(_LETTER_AND_DIGIT).match(value) is not None and not _is_common_word(value, bare=True)


def _speaks_of_secrets(value: str) -> bool:
    """An identifier of several words, one of which is about secrets: it names one."""
    if not compiled(_IDENTIFIER).fullmatch(value):
        return False
    words = [word.lower() for word in compiled(_WORDS).findall(value)]
    if len(value) > RANDOM_LEAST and len(value) < LETTERS_PER_WORD * len(words):
        return False  # letters at random, some of which happen to be a word
    return len(words) > 1 and not KEY_WORDS.isdisjoint(words) and compiled(_DIGIT_RUN).search(value) is None


_IDENTIFIER = r"[A-Za-z_$][\w.-]*+"
_DIGIT_RUN = r"\d{2}"
_NOT_CHOSEN = (
    r"^[$@#%<\[({/*~|]|^\.|://|\.\w{1,4}$|^\d[\d.,:/%-]*$|\(|^v?\d+\.|^\w+\.\w+\.\w|^[\w-]+/[\w./-]+$|\*\*|=[\"'{\[]"
)
_LETTER_AND_DIGIT = r"(?=[^A-Za-z]*+[A-Za-z])(?=[^0-9]*+[0-9])"
_CAPITAL_OR_SIGN = r"[A-Z]|[^\w\s.,;:/()-]"
_ALNUM = r"[A-Za-z0-9]++"
_SIGN = r"[^\w\s./-]"
_BLANK = r"\s"
_PLAIN = r"\d++|[A-Za-z]++\d{0,3}|[vV]?\d++[a-z]{0,2}"
_WORDS = r"[A-Z]?[a-z]++|[A-Z]++"
_PARTS = rf"{_WORDS}|\d++"


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return log2(len(value)) - sum(map(_weight, map(value.count, set(value)))) / len(value)


@cache
def _weight(count: int) -> float:
    return count * log2(count)
