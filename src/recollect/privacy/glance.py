"""A first look at what a hook is about to keep: could it hold a secret at all? No rule is loaded to answer.

A hook runs at every tool call, and most of what it keeps holds nothing that the rules would wake for. It may say yes in
vain, and then the rules decide; a test holds it to never saying no where one of them would find something.
"""

from __future__ import annotations

from recollect.core.lazy import Lazy

# One of these stands in every secret that is known by its surroundings …
WORDS = (
    "pass", "pw", "psk", "psw", "secret", "token", "key", "auth", "cred", "salt", "login", "log in", "logon", "sign in",
    "signin", "identified", "bearer", "connect(", "connection(", "-----begin", ":543", ":*:", "sudo -s", "net use",
    "snmp-server", "sqlplus", "thin:", "sqlldr", "kennwort", "senha", "contrase", "mot de passe", "mot_de_passe", "mdp",
    "wachtwoord", "losenord", "adgangskode", "salasana", "haslo", "heslo", "jelsz", "parola", "sifre", "kata sandi",
)  # fmt: skip
# … or two that belong together: an address with a name in it, a command with an option.
PAIRS = (
    ("://", "@"), (" -p", "mysql"), (" -p", "mariadb"), (" -p", "mongo"), (" -p", "zip"), (" -p", "7z"),
    (" -p", "sqlcmd"), (" -p", "ipmitool"), (" -u", "curl"), (" -u", "smbclient"), (" -a ", "redis-cli"),
    (" -w ", "ldap"), ("--user", "curl"),
)  # fmt: skip
# … and in every secret that stands on its own there is a long run with a digit among letters.
_OTHER_SCRIPTS = Lazy(r"l\u00f6senord|has\u0142o|\u015fifre|mật khẩu|парол|[密口パ비암패סكκ]", 0)
_RUN = Lazy(r"[\w+=~%|$.:@!-]{17,}", 0)
_HARMLESS = Lazy(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{2,12}_01[A-Za-z0-9]{20,24}|[\dTZ:.+-]+|[A-Za-z_.:-]+|\d+", 0
)


def may_hold_secret(text: str) -> bool:
    """Whether the rules are worth asking."""
    lowered = text.lower()
    if any(word in lowered for word in WORDS) or any(one in lowered and other in lowered for one, other in PAIRS):
        return True
    if not lowered.isascii() and _OTHER_SCRIPTS.search(lowered):
        return True
    return any(_HARMLESS.pattern.fullmatch(run[0]) is None for run in _RUN.finditer(text))
