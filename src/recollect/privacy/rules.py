"""The secret rules: the vendors' token formats, then the shapes that only their surroundings give away.

Rows are data; how they are tried and judged is `scan`'s business. A pattern is matched only where one of its anchors
stands, and every quantifier is bounded or possessive, so time is linear. Light to load: hooks screen what they keep.
"""

from recollect.privacy.places import PLACES
from recollect.privacy.row import A_DIGIT, AN_OPTION, HEADER_ENTROPY, RANDOM_ENTROPY, Rule
from recollect.privacy.tokens import TOKENS

# A command line has an option: cheaper to look for than for every command.
OPTIONS = (AN_OPTION,)
# fmt: off
# Between a marker and the next five dashes lies the key; without an end marker, as many long base64 lines as follow.
_KEY_BREAK = r"""(?>(?:\\[nrt]|["']\s?\+|[\s"',>|#*]){0,16})"""
_KEY_LINES = (
    rf"(?>(?:{_KEY_BREAK}[A-Za-z0-9+/=]{{20,}}+)+)"
    r"(?:(?:\\n|\n)\s{0,8}+[A-Za-z0-9+/=]{1,19}+(?=[\s\\\"'-]|$))?"
)
_KEY_HEADERS = r"(?>(?:(?>(?:\s|\\[nr])*)[A-Za-z-]{3,24}+:[^\n\\]{0,120}+){0,6})"
_HEADER = r"""(?i:authorization)(?>(?:\\?["'`\])]|\s){0,4})[:=,][\s"'`\\]{0,5}+"""

_STRUCTURES = (
    Rule("private-key", ("-----begin",),
         r"(?i:-----BEGIN[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)?-----)(?:(?>(?:[^-]++|-(?!----))*)"
         r"(?:(?i:-----END[ A-Z0-9_-]{0,60}?KEY(?: BLOCK)?-----)|(?:(?<=KEY)|(?<=BLOCK))-----)"
         rf"|{_KEY_HEADERS}{_KEY_LINES})", "block", everywhere=True, gate=("-",)),
    Rule("private-key", ("key",),
         r"(?i:key-file-\d:)(?>(?:(?!Private-Lines)[^\n]{0,100}+\n){1,64})Private-Lines: \d{1,4}+"
         rf"({_KEY_LINES})", "block", everywhere=True, gate=(A_DIGIT,)),
    Rule("jwt", ("ey",),
         r"(?:(?<![A-Za-z0-9_\\-])|(?<=\\[nrt]))ey[A-Za-z0-9_-]{10,}+\.ey[A-Za-z0-9_/-]{10,}+"
         r"(?>(?:\.[A-Za-z0-9_/-]*+){0,3})={0,2}", shown=3),
    Rule("jwt", ("zxlk",), r"(?<![A-Za-z0-9+/_-])ZXlK[A-Za-z0-9+/\\_-]{40,}+={0,2}", shown=4),
    Rule("password-hash", ("$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2"),
         r"\$(?:2[aby]\$\d\d|[1567y]|apr1|argon2(?:id|i|d))\$[A-Za-z0-9./=,+$-]{22,}+"),
    Rule("password-hash", ("{sha}", "{ssha}", "{ssha512}"), r"\{S?SHA(?:512)?\}[A-Za-z0-9+/]{20,}+={0,2}"),
    Rule("url-password", ("://",),
         r"""://[^\s:/?"'<>`|\\]{0,128}+:([^\s/?"'<>`|\\]{1,256})@(?=[A-Za-z0-9\[_$%{-])""", "literal",
         everywhere=True, gate=(":",)),
    Rule("url-token", ("://",), r"://([A-Za-z0-9_-]{20,256}+)@(?![\w.-]{0,80}sentry)", "random", RANDOM_ENTROPY,
         everywhere=True, gate=(":",)),
    Rule("kubernetes-secret", ("data:",),
         r"""(?<![\w])data:((?>(?:\s{1,9}+[\w.-]{1,80}+:[ \t]{0,4}+["']?[A-Za-z0-9+/]{4,}+={0,3}["']?)+))"""
         r"""(?=[\s\S]{0,600}?\nkind:[ \t]{0,3}["']?Secret\b)""", everywhere=True, gate=(":",)),
    Rule("kubernetes-secret", ("secret",),
         r"""(?:(?<=kind: )|(?<=kind: ["']))(?i:secret)\b[\s\S]{0,400}?\bdata:"""
         r"""((?>(?:\s{1,9}+[\w.-]{1,80}+:[ \t]{0,4}+["']?[A-Za-z0-9+/]{8,}+={0,3}["']?)+))""",
         everywhere=True, gate=("data:",)),
    Rule("curl-password", ("curl",),
         r"""(?i:curl)\b[^\n]{0,200}?[ \t](?:-u|--user)[ \t=]{0,4}["']?[^\s:"']{0,64}+:["']?([^\s"']{3,128}+)""",
         "literal", everywhere=True, gate=OPTIONS),
    Rule("authorization-header", ("auth",),
         rf"{_HEADER}(?i:(?:basic|bearer|token|apikey|api-token|digest|ssws|bot)\s{{1,4}}+)"
         r"(?=[A-Za-z_=~@.+/-]{0,128}+\d)([A-Za-z0-9_=~@.+/-]{8,}+)", "token", HEADER_ENTROPY, everywhere=True,
         gate=(A_DIGIT,)),
    Rule("authorization-header", ("auth",), rf"{_HEADER}([A-Za-z0-9_=~@.+/-]{{8,4096}}+)", "random", HEADER_ENTROPY,
         everywhere=True, gate=(A_DIGIT,)),
    Rule("authorization-header", ("bearer",), r"""(?i:bearer)[\s:"'\\]{1,4}+([A-Za-z0-9_=~.+/-]{16,4096}+)""",
         "random", RANDOM_ENTROPY, everywhere=True, gate=(A_DIGIT,)),
)

# How a name leads to its value: what closes the name, what joins the two, what opens the value.
_NAME_END = r"""(?>(?:\\?["'`\])]|\s){0,12})"""
_JOIN = (
    r"(?::\s{0,2}(?:str|[sS]tring|&str)\s{0,2}=|:{1,3}=|=>|->|\|\||[?+]?={1,3}|[:>,：＝]"
    r"|value\s{0,2}[:=]|</key>\s{0,9}<string>)"
)
_VALUE_START = r"""(?>(?:[\s=]|["'`](?=[\s"'`=])|[rbfuRBFUN@]{1,2}(?=\\?["'])|(?i:bearer\s)|(?i:basic\s)){0,12})"""
_QUOTED = (
    r"""(?:\\?"((?>(?:[^"\\\n]++|\\[^"\n])+))|\\?'((?>(?:[^'\\\n]++|\\[^'\n])+))"""
    r"""|\\?`((?>(?:[^`\\\n]++|\\[^`\n])+)))"""
)
_BARE = r"((?:base64:)?[A-Za-z0-9_+/.~%!@#$^*?|-]{4,512}+(?::[A-Za-z0-9_-]{8,}+)?={0,3})"
_LEADS_TO = f"{_NAME_END}{_JOIN}{_VALUE_START}(?:{_QUOTED}|{_BARE})"

# The same in short, to be asked first: a name, what joins, and something like a value; for a random one, with a digit.
_LEADS = r"""[\w \t.\-]{2,64}+[\s\\"'`\])]{0,12}+(?:[:=>,：＝]|->|\|\||[?+]=|value|</key>)[^\w]{0,16}+\S{3}"""
_LEADS_TO_DIGIT = (
    r"""[\w \t.\-]{2,64}+[\s\\"'`\])]{0,12}+(?:[:=>,：＝]|->|\|\||[?+]=|value|</key>)"""
    r"""(?:[\s\\"'`=]{0,16}+[^\s\d]{0,60}+){1,2}\d"""
)
_SPEAKS = r"(?i)(?:pass(?:w(?:or)?d|wrd|phrase|code|wort|ord)?s?|pwd?|pword)(?:[: \t]|是|为|は)"

# The word for a password in the languages that settings and messages are written in.
_WORDS = (
    r"(?:(?i:(?<![a-z])psw|pswd|psk|kennwort|senha|contrase[nñ]a|mot[ _-]?de[ _-]?passe|mdp|wachtwoord|l[oö]senord"
    r"|adgangskode|salasana|has[lł]o|heslo|jelsz[oó]|parola|[sş]ifre|mật khẩu|kata sandi|парол[ья])(?![a-z])"
    r"|密[码碼]|口令|パスワード|비밀번호|비번|암호|패스워드|סיסמ[אה]|كلمة (?:المرور|السر)|κωδικ[οό]ς)"
)
# `pass` and `pw` alone must be words or follow one they are often glued to; `surrogatepass` and `PassRole` are neither.
_PASSWORD = (
    r"(?:(?i:pass(?:w(?:or)?d|wrd|phrase|code|wort|ord)s?|pwd|pword)(?![a-z])|(?i:pass)(?![A-Za-z])"
    r"(?:(?<![A-Za-z]pass)(?<![A-Za-z]PASS)|(?<=[a-z]Pass)|(?<=dbpass)|(?<=userpass)|(?<=rootpass)|(?<=mailpass)"
    r"|(?<=smtppass)|(?<=adminpass))"
    r"|(?i:pw)(?![A-Za-z])(?:(?<![A-Za-z]pw)(?<![A-Za-z]PW)|(?<=[a-z]P[wW])|(?<=dbpw)|(?<=bindpw)|(?<=rootpw)"
    r"|(?<=userpw)|(?<=adminpw)))"
)
_ENGLISH = ("pass", "pw")
_FOREIGN = (
    "psw", "psk", "kennwort", "senha", "contrase", "mot de passe", "motdepasse", "mot_de_passe", "mdp", "wachtwoord",
    "losenord", "lösenord", "adgangskode", "salasana", "haslo", "hasło", "heslo", "jelsz", "parola", "sifre",
    "şifre", "mật khẩu", "kata sandi", "парол", "密码", "密碼", "口令", "パスワード", "비밀번호", "비번", "암호",
    "패스워드", "סיסמ",
    "كلمة المرور", "كلمة السر", "κωδικ",
)
_ASSIGNS = ("=", ":", "：", "是", "は")
_SECRET_NAME = (
    r"(?i:secret|token|auth(?!or|en)|cred|salt|psk(?![a-z])"
    r"|(?<!mon)(?<!tur)(?<!don)(?<!hoc)(?<!joc)(?<!hot)key(?!word|board|frame|stroke|note|press|error))"
)
# Names that hold nothing but a secret, whatever it is made of: words, digits, a UUID.
SURE_NAME = (
    r"(?i:(?:api|app|application|access|auth|client|private|subscription|master|encryption|encrypt|signing|license"
    r"|account|storage|shared|consumer|deploy|refresh|bot|jwt|session|cookie|webhook|hmac|oauth|flask|django|service"
    r"|function|instrumentation|ingest|integration|sdk)[ _.-]?(?:api[ _.-]?)?(?:secret|token|key)(?![a-z])"
    r"|(?<![a-z])secret(?:[ _.-]?(?:access[ _.-]?)?key(?:[ _-]?base)?)?(?![a-z]))"
)
_SURE_ANCHORS = ("key", "token", "secret")

_SAID = (
    r"(?:(?:[ \t](?:for|to|of|on|at|in)(?:[ \t][\w.@-]{1,40}){1,3}?)?"
    r"(?:[ \t](?i:is|was|ist|es|est|är|er|jest|это)[ \t:]{1,3}+(?:now[ \t]|set to[ \t])?|:[ \t]{1,2}+)"
    r"|[ \t](?:to|as)[ \t:]{1,3}+|[ \t]?(?:是|为|は)[ \t]?|[ \t])"
    r"""["'`“«(]?(?!\w{1,40}+=)([^\s"'`<>“”»]{4,128}+)"""
)
_PAIRS = ("=", ":", "/", "|")
# Options and commands that take a password.
_ARGUMENT = r"""["']?([^\s"'`<>|;&()\[{$=-][^\s"'`<>|;&()]{2,256}+)"""
_COMMANDS = (
    ("mysql", r"mysql\w{0,12}", r"-p", ""),
    ("mariadb", r"mariadb[\w-]{0,12}+", r"-p", ""),
    ("sshpass", "sshpass", r"-p[ \t]{0,3}", ""),
    ("login", "login", r"-p[ \t]{1,3}", ""),
    ("redis-cli", "redis-cli", r"-a[ \t]{1,3}", ""),
    ("ldap", r"ldap[a-z]{3,8}", r"-w[ \t]{1,3}", ""),
    ("zip", "zip", r"-P[ \t]{1,3}", ""),
    ("7z", r"7za?", r"-p", ""),
    ("sqlcmd", "sqlcmd", r"-P[ \t]{0,3}", ""),
    ("smbclient", "smbclient", r"-U[ \t]{1,3}[\w.\\-]{1,40}%", ""),
    ("openssl", "openssl", r"pass:", ""),
    ("net use", "net use", r"/user:\S{1,64}[ \t]{1,3}", "/"),
    ("htpasswd", "htpasswd", r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}[ \t]{1,3}+\S{1,128}+[ \t]{1,3}+\S{1,64}+[ \t]{1,3}+", ""),
    ("mongo", r"mongo[a-z]{0,8}", r"-p[ \t]{1,3}", ""),
    ("ipmitool", "ipmitool", r"-P[ \t]{1,3}", ""),
    ("snmp-server", "snmp-server", r"community[ \t]{1,3}", "-"),
)
_COMMAND_ROWS = tuple(
    Rule("command-password", (anchor,), rf"(?i:{command})\b[^\n|;]{{0,200}}?(?<![\w-]){option}{_ARGUMENT}", "argument",
         everywhere=True, gate=(gate,) if gate else OPTIONS)
    for anchor, command, option, gate in _COMMANDS
)

_PLACES = (
    *_COMMAND_ROWS,
    Rule("command-password", ("pass", "pw", "token", "secret", "key", "psk"),
         r"(?:(?<=-)|(?<=-store)|(?<=-key)|(?<=-api))(?i:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|psk)"
         rf"(?:=|[ \t]{{1,3}}){_ARGUMENT}", "option", everywhere=True, gate=OPTIONS),
    Rule("command-password", ("echo", "printf"),
         r"""(?:echo|printf)[ \t]{1,3}(?:-\w{1,3}[ \t]{1,3})?["']?"""
         r"""([^\s"'|$]{3,128}+)["']?[ \t]{0,3}\|[ \t]{0,3}(?:sudo[ \t]{1,3}(?:-\w[ \t]{1,3})?-S|(?:sudo )?chpasswd)""",
         "argument", everywhere=True, gate=("|",)),
    Rule("command-password", ("secret", "pass"),
         r"(?:(?<=\nenable )|(?<=#enable )|(?<=\n enable )|(?<=^enable ))(?:secret|password)[ \t]{1,3}"
         r"(?:\d[ \t]{1,3})?(\S{3,128}+)(?=[ \t]{0,8}(?:\n|\r|$))", "argument", everywhere=True, gate=("enable ",)),
    Rule("sql-password", ("identified",),
         r"(?i:identified\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?(?:by|as)(?:\s{1,4}password)?)\s{1,4}"
         r"""(?:'([^'\n]{1,128}+)'|"([^"\n]{1,128}+)"|([^\s"';,<>:()]{3,64}+))""", "statement", everywhere=True),
    Rule("sql-password", ("pass",),
         r"""(?i:password)\s{0,3}(?:(?i:for\s[^=\n]{1,80}+)?=\s{0,2})?(?:(?i:password)\()?N?'([^'\n\s]{3,128}+)'""",
         "statement", everywhere=True),
    Rule("database-login", ("sqlplus", "thin:", "sqlldr"),
         r"(?i:sqlplus(?:[ \t]-\w{1,4}){0,3}[ \t]{1,3}|thin:|sqlldr[ \t]{1,3})"
         r"""["']?[\w.$-]{1,40}/([^\s@/"'<>]{3,128}+)(?=@)""", "literal", everywhere=True, gate=("@",)),
    Rule("encoded-login", ("auth",),
         r"""(?i:(?<![a-z])auth(?:orization)?["']?\s{0,2}[:=,]\s{0,2}["']?(?:basic\s{1,3})?)([A-Za-z0-9+/]{8,512}+={0,2})""",
         "encoded", everywhere=True),
    Rule("login-call", ("auth", "login", "connect", "cred"),
         r"(?i:auth\s?=\s?[(\[]|login\(|connect(?:ion)?\(|credentials?\(|basicauth\()[^()\n]{0,200}?"
         r"""(?<!\w)["'][^"'\n]{1,128}["'],\s{0,3}["']([^"'\s]{3,128}+)["'][)\]]""", "chosen", everywhere=True,
         gate=("(", "[")),
    Rule("login-call", ("auth",),
         r"""(?i:auth)\s?=\s?\(\s?["'][^"'\n]{1,128}["'],\s{0,3}["']([^"'\s]{3,128}+)["']\)""", "literal",
         everywhere=True, gate=("(",)),
    Rule("login-pair", ("user", "login", "id/", "id /", "id |", "id &", "account"),
         r"(?i:(?<![a-z])(?:user(?:name)?|login|id|account)\s{0,2}(?:/|\||&|and|\+|:)\s{0,2}(?:pass(?:w(?:or)?d)?|pwd?))"
         r"""["')]{0,2}\s{0,3}(?:[:=]|is|->|-)\s{0,3}["'`]?[\w.@+\\-]{1,64}["'`]?\s{0,2}[/:|,]\s{0,2}["'`]?"""
         r"""([^\s"'`<>,;]{3,64}+)""", "literal", everywhere=True, gate=_PAIRS),
    Rule("login-pair", ("login", "log in", "logon", "sign in", "signin", "cred"),
         r"(?i:log[ -]?[io]n|sign[ -]?in|cred(?:ential)?s?)\b(?i:[ \t](?:with|as|using|is|are|for[ \t][\w.-]{1,40}))?"
         r"""[ \t]?[:=]?[ \t]{0,3}["'`]?[A-Za-z][\w.@+-]{1,40}["'`]?[ \t]{0,2}[/:|][ \t]{0,2}["'`]?"""
         r"""(?![/\s])([^\s"'`<>,;)/]{4,64}+)(?!/)""", "chosen", everywhere=True, gate=_PAIRS),
    Rule("login-pair", ("user", "login", "id:", "id =", "id=", "account"),
         r"""(?i:(?<![a-z])(?:user(?:name)?|login|id|uid|account))["']?[ \t:=]{1,4}(?!and\b|or\b)["'`]?"""
         r"""[\w.@+-]{1,64}["'`]?[,;.]?[ \t\n]{1,3}(?:(?:and|und|et|y|/|-|\|)[ \t]{1,2})?"""
         r"""(?i:password|passwd|passwort|pass|pwd|pw)["']?"""
         r"""[ \t]{0,2}[:=][ \t]{0,3}["'`]?([^\s"'`<>,;(){}\[\]]{3,64}+)(?![(\[{.])""", "literal", everywhere=True,
         gate=_PAIRS),
    Rule("variable-default", ('variable "',),
         r"""variable\s{1,3}"[\w-]{0,40}?(?:password|passwd|secret|token|api_key|passphrase)[\w-]{0,20}"\s{0,3}\{[^}]{0,300}?"""
         r"""\bdefault\s{0,8}=\s{0,3}"([^"\n]{3,256}+)""", "literal", everywhere=True,
         gate=('"',)),
    Rule("pgpass-password", (":543", ":*:"),
         r":(?:\d{4,5}|\*):[^\s:]{1,64}+:[^\s:*]{1,64}+:([^\s:]{4,128}+)(?=\s|$)", "certain", everywhere=True,
         gate=(":",)),
)

_ASSIGNMENTS = (
    *_PLACES,
    *PLACES,
    Rule("password", _ENGLISH, rf"{_PASSWORD}[\w.\-]{{0,24}}+{_LEADS_TO}", "password", everywhere=True, ahead=_LEADS),
    Rule("password", _FOREIGN, rf"{_WORDS}[\w.\-]{{0,24}}+{_LEADS_TO}", "password", everywhere=True, gate=_ASSIGNS),
    Rule("password", _ENGLISH,
         rf"{_PASSWORD}[\w.\-]{{0,24}}+(?:\s[^<>\n]{{0,80}}+)?>\s{{0,9}}+([^<>\s]{{3,256}}+)\s{{0,9}}+</", "literal",
         everywhere=True, gate=("</",)),
    Rule("password", ("login",),
         r"login[ \t\n]{1,8}+(?!anonymous|ftp[ \t\n])\S{1,128}+"
         r"[ \t\n]{1,8}+password[ \t\n]{1,8}+(\S{3,128}+)", "literal", everywhere=True),
    Rule("password", _ENGLISH,
         r"(?:[Pp]ass|(?i:pass(?:word|wd|phrase|code)|pwd))[ \t]{1,8}(?:7[ \t])?[\"']?([^\s\"'`<>]{4,128}+)[\"']?"
         r"[ \t]{0,8}(?=\n|\r|;|$)",
         "line", everywhere=True),
    Rule("password", _ENGLISH, rf"(?<!/){_PASSWORD}{_SAID}", "spoken", everywhere=True, ahead=_SPEAKS),
    Rule("password", _FOREIGN, rf"{_WORDS}{_SAID}", "spoken", everywhere=True, gate=_ASSIGNS),
    Rule("assigned-secret", ("secret",), rf"(?:(?<=[_.-])(?i:secret)|(?<=[a-z])Secret)(?!\w){_LEADS_TO}", "password",
         everywhere=True, ahead=_LEADS),
    Rule("assigned-secret", ("secret",), rf"(?i:secret)[ \t\w.\-]{{0,24}}+{_LEADS_TO}", "sure", everywhere=True,
         ahead=_LEADS),
    Rule("assigned-secret", ("key", "token"), rf"(?i:token|key)[ \t\w.\-]{{0,24}}+{_LEADS_TO}", "sure", everywhere=True,
         ahead=_LEADS_TO_DIGIT, gate=(A_DIGIT,)),
    Rule("assigned-secret", _SURE_ANCHORS,
         r"(?i:(?<=api )key|(?<=api-)key|(?<=secret )key|(?<=access )key|(?<=access )token|(?<=auth )token"
         r"|(?<=client )secret|(?<=private )key|(?<=bearer )token|(?<=api )token)[ \t](?:(?:is|was|to)[ \t:]{1,2}+)?"
         r"""["'`“]?([A-Za-z0-9_+/=.-]{16,256}+)""", "keyed", everywhere=True, gate=(A_DIGIT,)),
    Rule("assigned-secret", ("secret", "token", "key", "auth", "cred", "salt", "psk"),
         rf"{_SECRET_NAME}[ \t\w.\-]{{0,24}}+{_LEADS_TO}", "random", RANDOM_ENTROPY,
         everywhere=True, ahead=_LEADS_TO_DIGIT, gate=(A_DIGIT,)),
)

# What every secret of an anchor's rules begins with: words that merely hold the anchor (passion, upward) end here.
GUARDS = {
    "pass": r"(?i:pass(?:w(?:or[dt]|r?d)|phrase|code|ord)?s?)(?![a-z])",
    "pw": r"(?i:pw(?:or)?d?)(?![a-z])",
}

# Named beside a random string, any of these makes the string a credential.
SERVICES = (
    "assemblyai", "clickup", "deepseek", "eleven_labs", "fireworks", "gemini", "linode", "mapquest", "mixpanel",
    "opsgenie", "pushover", "scaleway", "serpapi", "sparkpost", "stability", "statuspage", "strava", "together",
    "virustotal", "wandb", "weatherapi", "webflow",
    "adafruit", "adobe", "airtable", "algolia", "alibaba", "aliyun", "artifactory", "asana", "atlassian", "auth0",
    "azure", "beamer", "bintray", "bitbucket", "bittrex", "buildkite", "circleci", "cloudflare", "cloudinary",
    "codecov", "cohere", "coinbase", "confluen", "contentful", "contribsys", "datadog", "deepgram", "deepl",
    "digitalocean", "discord", "dnkey", "docker", "drone", "dropbox", "elastic", "elevenlabs", "etsy", "facebook",
    "fastly", "figma", "finicity", "finnhub", "firebase", "flickr", "freshbooks", "github", "gitlab", "gitter",
    "gocardless", "grafana", "heroku", "hubspot", "huggingface", "infura", "instagram", "intercom", "jenkins",
    "jfrog", "jira", "kraken", "kucoin", "launchdarkly", "linear", "linkedin", "linked_in", "linked-in", "lob",
    "looker", "mailchimp", "mailgun", "mandrill", "mapbox", "mattermost", "meraki", "messagebird", "message_bird",
    "message-bird", "mistral", "netlify", "newrelic", "new_relic", "new-relic", "ngrok", "notion", "nytimes",
    "newyorktimes", "new-york-times", "okta", "openai", "openweather", "pagerduty", "paypal", "pinecone", "plaid",
    "postmark", "privateai", "private_ai", "private-ai", "pusher", "rapidapi", "razorpay", "reddit", "replicate",
    "rollbar", "salesforce", "segment", "sendbird", "sendgrid", "sendinblue", "sentry", "shodan", "slack", "snyk",
    "sonar", "spotify", "square", "stripe", "sumo", "supabase", "telegr", "tiktok", "travis", "trello", "twilio",
    "twitch", "twitter", "typeform", "unsplash", "vercel", "vultr", "wakatime", "xray", "yandex", "zendesk", "zoom",
)
# The shortest names are also parts of other words, as `lob` is of blob.
_OWN_WORD = r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|(?!(?i:etsy|jira|lob|okta|snyk|sumo|xray|zoom)))"
_SERVICE_KEYS = (
    Rule("service-key", SERVICES, rf"{_OWN_WORD}[A-Za-z][ \t\w.\-]{{2,35}}+{_LEADS_TO}", "service", RANDOM_ENTROPY),
)

GENERIC = (*_STRUCTURES, *_ASSIGNMENTS, *_SERVICE_KEYS)
RULES = (*TOKENS, *GENERIC)
"""Every rule, the more specific first: on overlap the earlier row names the secret."""
# fmt: on

# Words that stand where a secret would and are none.
COMMON_WORDS = frozenset(
    "true false yes no on off none null nil undefined nan empty unset required optional string str text bytes "
    "number int integer bool boolean any object void unknown never hidden default todo tbd changeme changeit "
    "replaceme fixme redacted masked removed secret token key value password passwd passphrase passcode pass pwd "
    "password1 pass1 pw user username port host mypassword yourpassword newpassword oldpassword wrongpassword "
    "foo bar baz qux "
    "currentpassword testpassword invalid missing valid correct incorrect bytea varchar char secretstr encrypted "
    "hashed plaintext base64 bcrypt sha256 sha512 md5 bearer prompt stdin env environment placeholder passwort "
    "kennwort senha contraseña contrasena wachtwoord lösenord adgangskode passord salasana hasło heslo jelszó "
    "parola şifre пароль 密码 密碼 パスワード 비밀번호 암호".split()
)
# Of these, what stands in settings for a password that nobody changed; elsewhere each is only a word.
WEAK_PASSWORDS = frozenset("password passwd passphrase secret changeme changeit default password1 mypassword".split())
# What the standards of OAuth, HTTP and JSON Web Tokens print as examples: everybody has read these.
PUBLISHED = frozenset(
    "dpf43f3p2l4k3l03 kd94hf93k423kf44 hh5s93j4hdidpola hdhd0244k9j7ao03 hfdp7dh39dks9884 nnch734d00sl2jdk "
    "pfkkdhi9sl3r4s00 9djdj82h48djs9d2 kkk9d7dh3k39sjv7 j49sk3j29djd dh893hdasih9 7d8f3e4a kllo9940pd9333jh "
    "0685bd9184jfhq22 ad180jjd733klru7 tR3+Ty81lMeYAr/Fid0kMTYa/WM= tnnArxj06cWHq44gCs1OSKk/jLY= "
    "2YotnFZFEjr1zCsicMWpAA tGzv3JOkF0XG5Qx2TlKWIA SplxlOBeZQQYbYS6WxSbIA czZCaGRSa3F0MzpnWDFmQmF0M2JW gX1fBat3bV "
    "czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3 7Fjfp0ZBr1KtDRbnfVdmIw A3ddj3w s6BhdRkqt3 45ghiukldjahdnhzdauz "
    "mF_9.B5f-4.1JqM h480djs93hd8 vF9dft4qmT SlAV32hkKG 8xLOxBtZp8 4vltrZSnYpIEXyyWkEzaW4 jH8MDIyDSdxWxsuU vvtxrmiSyg "
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ== QWxhZGRpbjpvcGVuIHNlc2FtZQ dGVzdDoxMjPCow== d2lsbDpzZWNyZXQ= "
    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".split()
)
# Words of sentences and programs that stand there as well, where nothing quotes the value.
PROSE_WORDS = frozenset(
    "scrypt argon2 basic oauth oauth2 jwt saml ldap kerberos ssl tls file vault keychain keyring generated random "
    "auto disabled enabled protected sensitive private public credentials credential login admin root guest test "
    "example sample dummy fake mock something anything whatever foo bar baz foobar field fields input label type "
    "name email url uri path self this props state data result response request config settings options args "
    "kwargs params context session client server database connection auth authentication authorization account "
    "group role manager reset change changed confirm confirmation again forgot forgotten expired expires recovery "
    "policy strength hint length min max format hash digest salt column table row index id uuid date time "
    "timestamp and or the a an is are was for with from into your our their my his her its it that which who not "
    "only must should can may will has have had to of in at by be as if when where how what why all each every "
    "other same new old first last next previous true1 clave motdepasse here there below above following needed "
    "given provided supplied entered stored saved kept sent shown set unchanged wrong weak strong long short "
    "minimum maximum characters chars letters digits numbers numeric alphanumeric".split()
)
# Names of algorithms and formats: letters and digits like a password, and none.
TECHNICAL = (
    r"(?i)(?:sha|md|aes|rsa|des|utf|base|crc|hmac|x|http|oauth|tls|ssl|argon|pbkdf|ed|win|ipv|v|py|python|node|es|ec|id|step"
    r"|line|page|section|chapter|part|phase|table|figure|fig|issue|pr|level|type|version|rule|test|tests|case|day|week|h"
    r"|row|col|column|option|item|number|no|rfc|iso|cve|port|user|field|input|key|arg|param|value|name|mp|log|int|float|"
    r"uint|char|varchar|str|s|k|p|q|t)[-_.]?\d{1,6}[a-z]{0,3}"
)
# A name that ends like this holds something about the secret, not the secret.
ABOUT_WORDS = frozenset(
    "field label placeholder hint name type path file dir url uri endpoint len length size min max limit policy "
    "reset changed created updated expires expiry at count index id ids input prompt regex pattern rule rules "
    "validator error errors msg message title text required enabled strength manager store env var ref arn column "
    "prefix format version hash sha md digest checksum used usage frame frames lifetime ttl duration mgr role suffix "
    "header param parameter attr attribute class constant option flag provider service source kind state status count "
    "time timestamp date algorithm signature nonce verifier method realm callback timeout expiration age seconds days "
    "policies generator getter helper handler encoder decoder validator checker util utils reset forgot change".split()
)
# Before `key` or `token`, these say that it opens nothing.
HARMLESS_WORDS = frozenset(
    "public pub primary foreign cache sort partition unique object idempotency storage map index lookup group row "
    "dedup dedupe hash sha commit checksum digest fingerprint trace span host routing join order state shard "
    "bucket tenant child translation next page continuation cursor sync cancel cancellation max prompt input output "
    "total completion".split()
)
OPENER_WORDS = frozenset("key keys token tokens".split())
# An identifier with one of these in it speaks about a secret: db_password, hashedPw, SecretKeyHeader.
KEY_WORDS = frozenset(
    "secret secrets key keys token tokens password passwords passwd passphrase pass pwd pw psw credential credentials "
    "cred creds auth hash hashed encrypted encoded user username env config setting settings get new old current "
    "confirm confirmed raw plain input field value var variable param arg args str string default provider manager "
    "prompt file path name header cookie session request response self this data model type class".split()
)
# Before a random body these make an id, which opens nothing.
ID_PREFIXES = frozenset(
    "toolu env call msg req resp rs fc run thread asst file vs batch step sess session cus price prod pi pm evt sub "
    "in ch txn acct seti si org user usr proj project team ws id uid uuid build dpl chunk index vendor main rev "
    "commit hash etag trace span img image v ver version chatcmpl cmpl gen item task job node obj ref doc page part "
    "prt toolu_bdrk msg_bdrk ses agent subagent event conversation conv message turn request response workflow "
    "action srvtoolu fp tool_call toolcall web_search assistant wrun tmp temp css style styles static assets module "
    "sri nonce cache blob layer pr pvc pod container deploy deployment release snapshot vol subnet sg vpc eni ami "
    "rtb igw arn bucket tx block addr video playlist channel folder drive spreadsheet form invoice order cart "
    "customer product seq fig table mem ent act shard replica cluster app www http https com net io "
    "dev".split()
)
# Before a body of small letters or hexadecimal digits these make a key.
KEY_PREFIXES = frozenset(
    "live prod production test sandbox pat key secret token api sk rk tkn tok auth access private personal oat apikey "
    "signkey apitoken accesstoken bearer license".split()
)
