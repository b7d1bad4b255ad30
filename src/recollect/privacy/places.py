"""Where programs and settings of well-known tools keep a password: calls, commands, lines and files of their own.

Rows are data, written from the manuals of the tools; `rules` holds what is common to all of them.
"""

from recollect.privacy.row import A_DIGIT, AN_OPTION, BASE64, HEX, Rule, token

# fmt: off
# Calls that take a user and a password, and those that take a host or a connection first.
_CALLS = ("login(", "signin(", "sign_in(", "log_in(", "authenticate(", "auth(", "networkcredential(", "authentication(",
          "credentials(", "credential(", "simple_bind_s(", "usernametoken(")
_CALLS_OF_THREE = ("mysqli(", "mysqli_connect(", "mysql_connect(", "pdo(", "ldap_bind(", "ftp_login(", "getconnection(",
                   "plainauth(")
_CALLED = (
    r"(?i:login|sign_?in|log_in|authenticate|auth|networkcredential|authentication|credentials?|simple_bind_s"
    r"|usernametoken)\(\s{0,3}"
)
_CALLED_WITH_THREE = r"(?i:mysqli(?:_connect)?|mysql_connect|pdo|ldap_bind|ftp_login|getconnection|plainauth)\(\s{0,3}"
_FIRST = r"""(?:[\w.$>:@\[\]-]{1,64}|["'][^"'\n]{0,128}["']),\s{0,3}"""
_USER = r"""(?:(?:[\w.$>:@\[\]-]{1,64}|["'][^"'\n]{0,128}["']),\s{0,3}){0,2}?"""
_USER = r"""["']([\w.@+\\-]{1,128}|[\w= ,.-]{1,128})["']"""
_QUOTED = r"""["']([^"'\s]{3,128}+)["']"""
# What a command or a line of settings gives.
_GIVEN = r"""["']?([^\s"'`<>|;&()$-][^\s"'`<>|;&()]{2,128}+)"""
_LINE_END = r"""(?=["']?;?[ \t]{0,8}(?:\n|\r|$))"""
_FAR = r"\b[^\n|;]{0,200}?[ \t]"


def _command(anchors: tuple[str, ...], command: str, option: str, gate: str = AN_OPTION) -> Rule:
    pattern = rf"(?i:{command})(?:\.exe|\.py)?{_FAR}{option}{_GIVEN}"
    return Rule("command-password", anchors, pattern, "argument", everywhere=True, gate=(gate,))


_PROGRAMS = (
    Rule("login-call", _CALLS, rf"{_CALLED}{_USER},\s{{0,3}}(?:Some\()?{_QUOTED}(?=\s{{0,3}}[,)])", "called",
         everywhere=True, gate=("(",)),
    Rule("login-call", _CALLS_OF_THREE, rf"{_CALLED_WITH_THREE}{_FIRST}{_USER},\s{{0,3}}{_QUOTED}(?=\s{{0,3}}[,)])",
         "called", everywhere=True, gate=("(",)),
    Rule("login-call", ("basic_auth ",), rf"(?i:basic_auth)[ \t]{{1,3}}{_USER},[ \t]{{0,3}}{_QUOTED}", "called",
         everywhere=True, gate=("_",)),
    Rule("command-password", ("securestring",), rf"(?i:securestring)[ \t]{{1,3}}(?i:-string[ \t]{{1,3}})?{_QUOTED}",
         "literal", everywhere=True, gate=(AN_OPTION,)),
    _command(("plink", "pscp", "psftp", "putty"), "plink|pscp|psftp|putty", r"-pw[ \t]{1,3}"),
    _command(("freerdp", "cmdkey"), "freerdp|cmdkey", r"/p(?:ass)?:", "/"),
    _command(("rdesktop",), "rdesktop", r"-p[ \t]{1,3}"),
    _command(("lftp",), "lftp", r"""-u[ \t]{1,3}["']?[\w.@+-]{1,64},"""),
    _command(("http ", "https "), "https?", r"""(?:-a|--auth)[ \t=]{1,3}["']?[\w.@+-]{1,64}:"""),
    _command(("winexe", "rpcclient", "crackmapexec", "psexec", "smbmap"), "winexe|rpcclient|crackmapexec|psexec|smbmap",
             r"""-(?:U[ \t]{1,3}["']?[\w.\\/-]{1,64}%|p[ \t]{1,3})"""),
    _command(("mysqladmin",), "mysqladmin", r"password[ \t]{1,3}"),
    Rule("command-password", ("net user ",),
         rf"(?i:net user)[ \t]{{1,3}}[\w.-]{{1,64}}[ \t]{{1,3}}(?![/*]){_GIVEN}(?=[ \t]{{1,3}}/)", "argument",
         everywhere=True, gate=("/",)),
    Rule("chat-password", ("nickserv",),
         r"(?i:nickserv)[ :]{1,3}(?i:identify|id|register|ghost|release)[ \t]{1,3}"
         r"""(?:[\w\[\]{}|^-]{1,32}[ \t]{1,3}(?=\S{3}))?([^\s"'`<>;]{3,64}+)""", "literal", everywhere=True,
         gate=("/",)),
)

# Lines that some programs' own files are made of.
_LINES = (
    Rule("mail-password", ("]:25", "]:465", "]:587"),
         rf"\]:\d{{2,5}}[ \t]{{1,8}}[^\s:]{{1,80}}+:(\S{{3,128}}+){_LINE_END}", "certain", everywhere=True,
         gate=("@",)),
    Rule("server-password", ("requirepass", "masterauth", "bindpw", "rootpw", "wpa_passphrase"),
         rf"(?i:requirepass|masterauth|bindpw|rootpw|wpa_passphrase)[ \t=]{{1,8}}{_GIVEN}{_LINE_END}", "server",
         everywhere=True, gate=("\n",)),
    Rule("server-password", ("tacacs", "radius", "pre-shared-key", "neighbor "),
         r"(?i:(?:tacacs|radius)(?:-server)?\b[^\n]{0,80}?[ \t]key|neighbor[ \t]\S{1,40}[ \t]password"
         r"|pre-shared-key(?:[ \t]address[ \t]\S{1,40}[ \t]key|[ \t]ascii-text)?)"
         rf"[ \t]{{1,3}}(?:\d[ \t]{{1,3}})?{_GIVEN}{_LINE_END}", "server", everywhere=True, gate=("\n",)),
    Rule("server-password", ('eap "', 'xauth "', 'psk "'), r'(?<=[: \t])(?:EAP|XAUTH|PSK)[ \t]{1,3}"([^"\n]{3,128}+)"',
         "literal", everywhere=True, gate=('"',)),
    Rule("server-password", ("static-auth-secret",), r"static-auth-secret[ \t]{0,3}=[ \t]{0,3}(\S{3,128}+)", "literal",
         everywhere=True, gate=("\n",)),
    Rule("assigned-secret",
         ("secret_access_key ", "secret-access-key ", "api_key ", "access_token ", "auth_token ", "session_token "),
         r"(?i:secret[_-]access[_-]key|api_key|access_token|auth_token|session_token)[ \t]{1,3}"
         r"""["']?([A-Za-z0-9_+/=.-]{16,256}+)""", "keyed", everywhere=True, gate=(A_DIGIT,)),
)

# Hashes of passwords, as systems, databases and frameworks spell them.
_TABLE = r"""[`"\[]?\w{0,30}?(?i:user|account|member|admin|login|customer|credential)"""
_VALUES = r"""[^;'"]{0,300}+(?:['"][^;'"]{0,80}+['"][^;'"]{0,20}+){0,8}?"""
_HASHES = (
    Rule("password-hash", ("$p$", "$h$", "$s$", "$2x$", "$scrypt$", "$pbkdf2", "$bcrypt-sha", "$8$", "$9$", "$sha1$"),
         r"\$(?:[PHS]\$[A-Za-z0-9./]{30,}+|2x\$\d\d\$[A-Za-z0-9./]{50,}+"
         r"|(?:scrypt|pbkdf2[a-z0-9-]{0,10}|bcrypt-sha256|[89]|sha1)\$[A-Za-z0-9./=,+$-]{22,}+)"),
    Rule("password-hash", ("pbkdf2_sha256$", "pbkdf2_sha1$", "bcrypt_sha256$", "scrypt$", "pbkdf2:sha", "scrypt:"),
         r"(?:pbkdf2_sha(?:1|256)|bcrypt_sha256|scrypt|pbkdf2:sha\d{1,3}|scrypt:\d{1,9}:\d{1,3}:\d{1,3})"
         r"[$:][A-Za-z0-9./=+$:]{30,}+"),
    Rule("password-hash", ("{crypt}", "{ssha256}", "{sha256}", "{sha512}", "{smd5}", "{md5}", "{cram-md5}"),
         r"(?i:\{(?:CRYPT|S?SHA(?:256|512)|S?MD5|CRAM-MD5)\})[^\s:\"']{12,200}+"),
    Rule("password-hash", (":::",), r"(?<=:)[0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}(?=:::)", back=(65,)),
    Rule("password-hash", ("'*", '"*'), r"""["']\*([0-9A-F]{40})["']"""),
    Rule("password-hash", ("insert into",),
         rf"(?i:insert into)\s{{1,3}}{_TABLE}{_VALUES}['\"]([0-9a-f]{{32}}|[0-9a-f]{{40}}|[0-9a-f]{{64}})['\"]",
         everywhere=True, gate=(A_DIGIT,)),
)

# Keys in other clothes: PEM in base64, what Windows protects, JSON Web Keys.
_KEYS = (
    token("private-key", "LS0tLS1CRUdJTiBQUklWQVRF", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS", "LS0tLS1CRUdJTiBFQyBQUklWQVRF",
          "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEU", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS", least=40, body=BASE64),
    token("windows-protected-secret", "AQAAANCMnd8BFdERjHoAwE", least=40, body=BASE64),
    token("windows-protected-secret", "01000000d08c9ddf0115d1118c7a00c04fc297eb", least=40, body=HEX),
    Rule("private-jwk", ('"d"',), r'"d"\s{0,3}:\s{0,3}"([A-Za-z0-9_-]{40,}+)"', everywhere=True, gate=('"',)),
)

PLACES = (*_PROGRAMS, *_LINES, *_HASHES, *_KEYS)
# fmt: on
