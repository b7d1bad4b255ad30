"""A first look at what a hook is about to keep: could it hold a secret at all? No rule is loaded to answer.

A hook runs at every tool call, and most of what it keeps holds nothing that the rules would wake for. It may say yes in
vain, and then the rules decide; a test holds it to never saying no where one of them would find something.
"""

from __future__ import annotations

from recollect.core.lazy import Lazy

# One of these stands in every secret that is known by its surroundings …
WORDS = (
    "pw", "psk", "psw", "secret", "signing", "encrypt", "master", "jwt", "hmac", "-----begin", "identified", "sudo -s",
    "net use", "snmp-server", "sqlplus", "thin:", "sqlldr", ":543", ":*:", "contrase", "mot de passe", "mot_de_passe",
    "mdp", "kennwort", "wachtwoord", "losenord", "adgangskode", "salasana", "haslo", "heslo", "jelsz", "parola",
    "sifre", "kata sandi", "senha", "log in", "logon", "sign in", "signin", "auth=(", "login(", "connection(",
    "credentials(", "_live_", "nickserv", "]:25", "]:465", "]:587", "pre-shared", "auth(", "credential(", "ntication(",
    "sign_in(", "log_in(", "mysqli", "pdo(", "_bind", "usernametoken", "freerdp", "cmdkey", "basic_auth", "eap \"",
)  # fmt: skip
# … or two that belong together: an address with a name in it, a command with an option.
PAIRS = (
    ("://", "@"), (" -p", "mysql"), (" -p", "mariadb"), (" -p", "mongo"), (" -p", "zip"), (" -p", "7z"),
    (" -p", "sqlcmd"), (" -p", "ipmitool"), (" -p", "login"), (" -u", "curl"), (" -u", "smbclient"),
    (" -u", "lftp"), (" -u", "winexe"), (" -u", "rpcclient"), (" -p", "psexec"), (" -p", "crackmap"), (" -p", "smbmap"),
    (" -p", "rdesktop"), ("radius", " key "), ("tacacs", " key "),
    (" -a", "http"), ("--auth", "http"), (" -a ", "redis-cli"), (" -w ", "ldap"), ("--user", "curl"),
)  # fmt: skip
# … or a word for a password that is not about passing, or one for a key with a digit soon after it …
PASS, PASSING = "pass", ("passed", "passes", "passing", "passage", "passiv", "passeng", "passion", "passthr")
KEYS = ("key", "token", "auth", "cred", "salt", "bearer", "login", "connect")
_REACH = 110  # characters after such a word in which its value begins
_DIGIT = Lazy(r"[0-9]", 0)
_OTHER_SCRIPTS = Lazy(r"lösenord|hasło|şifre|mật khẩu|парол|[密口パ비암패סكκ]", 0)
# … and in every secret that stands on its own there is a long run with digits among letters.
_RUN = Lazy(r"[A-Za-z0-9_+=~%|$.:@!-]{17,}", 0)
_HARMLESS = Lazy(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.jsonl?)?|[a-z]{2,12}_01[A-Za-z0-9]{20,24}|[0-9TZ:.+-]+", 0
)


def may_hold_secret(text: str) -> bool:
    """Whether the rules are worth asking."""
    lowered = text.lower()
    return (
        any(word in lowered for word in WORDS)
        or any(one in lowered and other in lowered for one, other in PAIRS)
        or _names_password(lowered)
        or any(_leads_to_digit(lowered, word) for word in KEYS)
        or (not lowered.isascii() and _OTHER_SCRIPTS.search(lowered) is not None)
        or any(_may_be_token(run[0]) for run in _RUN.finditer(text))
    )


def _names_password(lowered: str) -> bool:
    at = lowered.find(PASS)
    while at >= 0:
        if not lowered.startswith(PASSING, at):
            return True
        at = lowered.find(PASS, at + 1)
    return False


def _leads_to_digit(lowered: str, word: str) -> bool:
    at = lowered.find(word)
    while at >= 0:
        if _DIGIT.pattern.search(lowered, at, at + _REACH):
            return True
        at = lowered.find(word, at + 1)
    return False


def _may_be_token(run: str) -> bool:
    return _DIGIT.search(run) is not None and _HARMLESS.pattern.fullmatch(run) is None
