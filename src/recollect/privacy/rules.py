"""The secret rules: one row for each token format, then the shapes that only their surroundings give away.

Rows are data, written from the public token formats; how they are tried and judged is `scan`'s business. A pattern
is matched only where one of its anchors stands, and every quantifier is bounded or possessive, so time is linear.
"""

import re
from dataclasses import dataclass
from typing import Literal

Shape = Literal["token", "random", "service", "password", "literal", "spoken", "block"]
"""What a value must be like: a token is believed by its prefix, a literal unless it is a common word, the rest when
they look generated or stand where a password stands."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. The value is the last group that matched, or the whole match when there is none."""

    name: str
    anchors: tuple[str, ...]
    """Lower-case literals, one of which stands in every secret of this kind."""
    pattern: str
    shape: Shape = "token"
    entropy: float = 0.0
    """Bits per character the value must reach."""
    back: tuple[int, ...] = (0,)
    """How many characters before the anchor the pattern begins, each possibility."""
    shown: int = 0
    """How many leading characters of the value are public and may stay in the placeholder."""
    everywhere: bool = False
    """Anchors are looked for in the whole text, not only in its long unbroken runs."""


# A token starts after anything but a letter or digit; an escaped newline or a percent code also counts as a start.
EDGE = r"(?:(?<![A-Za-z0-9\\])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
STOP = r"(?![A-Za-z0-9])"
ALNUM = "[A-Za-z0-9]"
WORD = "[A-Za-z0-9_]"
URLSAFE = "[A-Za-z0-9_-]"
HEX = "[A-Fa-f0-9]"
BASE64 = "[A-Za-z0-9+/=]"
ANY64 = "[A-Za-z0-9+/_=.-]"
UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

SHOWN_MOST = 4
RANDOM_ENTROPY = 2.8  # bits per character: ten random letters and digits hold about 3.1
HEADER_ENTROPY = 2.75


def _token(
    name: str, *prefixes: str, least: int, body: str = ALNUM, tail: str = "", shape: Shape = "token", most: str = ""
) -> Rule:
    """A token that announces itself: a public prefix, then at least `least` characters of body."""
    choice = "|".join(map(re.escape, prefixes))
    spelled = f"(?i:{choice})" if prefixes[0][-1] in "_-.~" else f"(?:{choice})"
    anchors = tuple(prefix.lower() for prefix in prefixes)
    shown = min(SHOWN_MOST, *map(len, prefixes))
    return Rule(name, anchors, f"{EDGE}{spelled}{body}{{{least},{most}}}+{tail}", shape, shown=shown)


def _shaped(name: str, anchors: tuple[str, ...], pattern: str, *back: int, shown: int = 0) -> Rule:
    """A token whose parts have their own lengths, perhaps with its anchor further in."""
    return Rule(name, anchors, pattern, back=back or (0,), shown=shown)


# fmt: off
_CLOUD = (
    _shaped("aws-access-key", ("akia", "asia", "abia", "acca", "a3t"),
            rf"{EDGE}(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{STOP}", shown=4),
    _token("aws-bedrock-key", "ABSK", least=60, body=BASE64),
    _token("aws-bedrock-key", "bedrock-api-key-", least=20, body=BASE64),
    _token("aws-mws-key", "amzn.mws.", least=30, body=URLSAFE),
    _token("gcp-key", "AIza", least=33, body=URLSAFE),
    _token("gcp-oauth", "GOCSPX-", "ya29.", least=20, body=URLSAFE),
    _token("gcp-refresh-token", "1//0", least=40, body=URLSAFE),
    _shaped("azure-client-secret", ("q~",), rf"{EDGE}[A-Za-z0-9_~.-]{{3}}\dQ~[A-Za-z0-9_~.-]{{31,40}}", 4),
    _shaped("azure-devops-token", ("azdo",), rf"{EDGE}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{STOP}", 76),
    _shaped("azure-signature", ("sig=",), r"(?<=[?&;])sig=([A-Za-z0-9%+/]{40,}+={0,2})"),
    _token("alibaba-key", "LTAI", least=16, most="24", tail=STOP),
    _token("tencent-key", "AKID", least=32, most="32", tail=STOP),
    _token("yandex-key", "AQVN", least=34, body=URLSAFE),
    _shaped("yandex-token", ("t1.",), rf"{EDGE}t1\.[A-Za-z0-9_-]{{1,512}}+={{0,2}}\.[A-Za-z0-9_-]{{86}}={{0,2}}"),
    _token("digitalocean-token", "dop_v1_", "doo_v1_", "dor_v1_", least=60, body=HEX),
    _token("heroku-key", "HRKU-", least=36, body=URLSAFE),
    _token("cloudflare-key", "v1.0-", least=100, body="[a-f0-9-]"),
    _token("fly-token", "fo1_", "fm1a_", "fm1r_", "fm2_", least=40, body="[A-Za-z0-9+/=_,-]"),
    _token("vercel-token", "vcp_", "vca_", "vci_", "vcr_", "vck_", least=24),
    _token("netlify-token", "nfp_", "nfc_", "nfo_", "nfu_", least=34),
    _token("supabase-key", "sbp_", least=36, body="[a-f0-9v_]"),
    _token("supabase-key", "sb_secret_", least=20, body=URLSAFE),
    _token("planetscale-token", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", least=32, body=ANY64),
    _token("neon-key", "napi_", least=40),
    _token("clickhouse-key", "4b1d", least=38, most="38", tail=STOP),
    _token("mongodb-atlas-secret", "mdb_sa_sk_", least=32, body=URLSAFE),
    _token("scalingo-token", "tk-us-", least=40, body=URLSAFE),
    _token("openshift-token", "sha256~", least=40, body=URLSAFE),
    _token("tailscale-key", "tskey-", least=16, body=URLSAFE),
    _token("databricks-token", "dapi", least=32, body="[a-f0-9]", tail=r"(?:-\d)?"),
    _token("prefect-token", "pnu_", "pnb_", least=36),
)

_FORGES = (
    _token("github-token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", least=36),
    _token("github-token", "github_pat_", least=40, body=WORD),
    _token("gitlab-token", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-",
           "glsoat-", "glffct-", "glwt-", least=20, body=URLSAFE, tail=r"(?:\.[0-9a-z]{2,3}\.?[0-9a-z]{7,9})?"),
    _token("gitlab-token", "GR1348941", least=20, body=URLSAFE),
    _shaped("gitlab-session", ("_gitlab_session",), r"_gitlab_session=[0-9a-z]{32,}+"),
    _token("bitbucket-token", "ATBB", least=28),
    _token("atlassian-token", "ATATT3", "ATCTT3", "ATSTT3", least=60, body=ANY64),
    _token("trello-token", "ATTA", least=60, body=HEX),
    _token("npm-token", "npm_", least=36),
    _token("pypi-token", "pypi-AgE", least=50, body=URLSAFE),
    _token("rubygems-key", "rubygems_", least=40, body=HEX),
    _token("clojars-token", "CLOJARS_", least=50),
    _token("nuget-key", "oy2", least=43, most="43", body="[a-z0-9]", tail=STOP),
    _token("docker-token", "dckr_pat_", "dckr_oat_", least=24, body=URLSAFE),
    _token("artifactory-key", "AKCp", least=60),
    _token("artifactory-token", "cmVmd", least=59, most="59", tail=STOP),
    _token("buildkite-token", "bkua_", least=36),
    _token("circleci-token", "CCIPAT_", least=40, body=WORD),
    _token("sonar-token", "squ_", "sqp_", "sqa_", least=36, body=URLSAFE),
    _token("sourcegraph-token", "sgp_", least=36, body=WORD),
    _token("infracost-key", "ico-", least=32),
    _token("pulumi-token", "pul-", least=40, body=HEX),
    _shaped("terraform-token", ("atlasv1",), rf"{EDGE}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,}}+", 15),
    _shaped("harness-key", ("pat.", "sat."),
            rf"{EDGE}[ps]at\.[A-Za-z0-9_-]{{22}}\.[A-Za-z0-9]{{24}}\.[A-Za-z0-9]{{20,}}+", shown=4),
    _token("octopus-key", "API-", least=26, most="32", body="[A-Z0-9]", tail=STOP),
)

_MODELS = (
    _token("anthropic-key", "sk-ant-", least=24, body=URLSAFE),
    _token("openai-key", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", least=24, body=URLSAFE),
    _token("openrouter-key", "sk-or-v1-", least=32, body=HEX),
    _token("model-key", "sk-", least=20, body=URLSAFE, shape="random"),
    _token("huggingface-token", "hf_", "api_org_", least=30),
    _token("groq-key", "gsk_", least=40),
    _token("xai-key", "xai-", least=40),
    _token("nvidia-key", "nvapi-", least=40, body=URLSAFE),
    _token("replicate-token", "r8_", least=36),
    _token("perplexity-key", "pplx-", least=40),
    _token("langsmith-key", "lsv2_", "ls__", least=32, body=WORD),
    _token("pinecone-key", "pcsk_", least=40, body=WORD),
)

_CHAT = (
    _shaped("slack-token", ("xox",), r"xox(?:[a-np-z]-(?=[a-z%-]{0,24}[A-Z0-9])|o-(?=\d))[A-Za-z0-9%-]{12,}+", shown=4),
    _shaped("slack-token", ("xoxe",), r"xoxe\.xox[a-z]-[A-Za-z0-9-]{20,}+", shown=4),
    _token("slack-app-token", "xapp-", least=12, body="[A-Za-z0-9-]"),
    _shaped("slack-webhook", ("hooks",), r"hooks.slack.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{24,}+"),
    _shaped("teams-webhook", ("webhook.office.com/",), r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{60,}+"),
    _shaped("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/(\d{15,22}/[A-Za-z0-9_-]{40,}+)"),
    _shaped("discord-token", (".g", ".h", ".w", ".x", ".y"),
            rf"{EDGE}[MNO][A-Za-z0-9_-]{{23,27}}\.[GHWXY][A-Za-z0-9_-]{{5}}\.[A-Za-z0-9_-]{{27,}}+",
            24, 25, 26, 27, 28),
    _shaped("telegram-token", (":a",), rf"{EDGE}\d{{8,10}}:A[A-Za-z0-9_-]{{33,36}}(?![A-Za-z0-9_-])", 8, 9, 10),
    _token("facebook-token", "EAA", least=80),
    _shaped("facebook-app-token", ("|", "%"), rf"{EDGE}\d{{15,16}}(?:\||%7C|%)[A-Za-z0-9_-]{{27,}}+", 15, 16),
    _token("twilio-key", "SK", least=32, most="32", body=HEX, tail=STOP),
    _shaped("sendgrid-key", ("sg.",), rf"{EDGE}SG\.[A-Za-z0-9_=.-]{{50,}}+", shown=3),
    _token("mailgun-key", "pubkey-", "key-", least=32, most="32", body="[a-f0-9]", tail=STOP),
    _shaped("mailchimp-key", ("-us",), rf"{EDGE}[a-f0-9]{{32}}-us\d{{1,2}}{STOP}", 32),
    _token("brevo-key", "xkeysib-", "xsmtpsib-", least=64, body=URLSAFE),
    _token("hubspot-token", "pat-na1-", "pat-na2-", "pat-eu1-", least=30, body=URLSAFE),
    _token("resend-key", "re_", least=24, body=WORD, shape="random"),
)

_COMMERCE = (
    _token("stripe-key", "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", least=10),
    _token("stripe-webhook-secret", "whsec_", least=24, body=BASE64),
    _token("shopify-token", "shpat_", "shpca_", "shppa_", "shpss_", "shptka_", least=32, body=HEX),
    _token("square-token", "sq0atp-", "sq0csp-", least=22, body=URLSAFE),
    _token("square-token", "EAAA", least=22, body=URLSAFE),
    _shaped("paypal-token", ("access_token$",),
            r"access_token\$[a-z]{4,12}\$[A-Za-z0-9]{10,20}\$[a-f0-9]{32,}+", shown=4),
    _shaped("plaid-token", ("access-",), rf"{EDGE}access-(?:sandbox|development|production)-{UUID}", shown=4),
    _token("flutterwave-key", "FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-", least=12, body=URLSAFE),
    _token("razorpay-key", "rzp_live_", "rzp_test_", least=14),
    _token("easypost-key", "EZAK", "EZTK", least=54),
    _token("shippo-token", "shippo_live_", "shippo_test_", least=40, body=HEX),
    _token("duffel-token", "duffel_live_", "duffel_test_", least=40, body=ANY64),
    _token("lob-key", "live_pub_", "test_pub_", "live_", "test_", least=31, body=HEX),
    _token("gocardless-token", "live_", least=40, body=ANY64, shape="service"),
)

_TOOLS = (
    _token("doppler-token", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", least=40, body=ANY64),
    _token("vault-token", "hvs.", "hvb.", "hvr.", least=24, body=URLSAFE),
    Rule("vault-token", ("s.",), rf"(?<![\w.])s\.[A-Za-z0-9]{{24}}{STOP}", "service", RANDOM_ENTROPY),
    _token("onepassword-token", "ops_eyJ", least=100, body=BASE64),
    _shaped("onepassword-key", ("a3-",), rf"{EDGE}A3-[A-Z0-9]{{6}}(?:-[A-Z0-9]{{5,11}}){{4,5}}+", shown=3),
    _token("age-key", "AGE-SECRET-KEY-1", least=50),
    _token("postman-key", "PMAK-", least=50, body=URLSAFE),
    _token("linear-key", "lin_api_", "lin_oauth_", least=32),
    _token("notion-token", "ntn_", least=40),
    _token("notion-token", "secret_", least=43, most="43", tail=STOP),
    _shaped("airtable-token", ("pat",), rf"{EDGE}pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}", shown=3),
    _token("grafana-token", "glsa_", least=32, body=WORD),
    _token("grafana-token", "glc_", least=32, body=BASE64),
    _token("grafana-key", "eyJrIjoi", least=60, body=BASE64),
    _token("sentry-token", "sntryu_", least=60, body=HEX),
    _token("sentry-token", "sntrys_", least=40, body=ANY64),
    _token("newrelic-key", "NRAK-", "NRII-", "NRJS-", "NRIQ-", "NRRA-", least=19, body=URLSAFE),
    _token("dynatrace-token", "dt0c01.", "dt0s01.", least=60, body="[A-Za-z0-9.]"),
    _token("posthog-key", "phx_", least=32),
    _token("figma-token", "figd_", "figo_", least=36, body=URLSAFE),
    _token("contentful-token", "CFPAT-", least=40, body=URLSAFE),
    _token("dropbox-token", "sl.", least=100, body=ANY64),
    _token("typeform-token", "tfp_", least=40, body=ANY64),
    _token("readme-key", "rdme_", least=60),
    _token("frameio-token", "fio-u-", least=60, body=ANY64),
    _token("adobe-secret", "p8e-", least=30),
    _token("intra42-secret", "s-s4t2ud-", "s-s4t2af-", least=60, body=HEX),
    _token("settlemint-token", "sm_aat_", "sm_pat_", "sm_sat_", least=16),
    _token("defined-networking-key", "dnkey-", least=60, body=ANY64),
    _shaped("maxmind-key", ("_mmk",), rf"{EDGE}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk{STOP}", 36),
    _shaped("authress-key", ("sc_", "ext_", "scauth_", "authress_"),
            rf"{EDGE}(?:sc|ext|scauth|authress)_[A-Za-z0-9]{{5,30}}\.[A-Za-z0-9]{{4,6}}\.acc[_-][A-Za-z0-9-]{{10,32}}"
            r"\.[A-Za-z0-9+/_=-]{30,}+"),
    _token("mapbox-token", "pk.eyJ", "sk.eyJ", "tk.eyJ", least=40, body="[A-Za-z0-9_.-]"),
    _shaped("mapbox-token", ("pk.", "sk."), rf"{EDGE}[ps]k\.[A-Za-z0-9]{{60}}\.[A-Za-z0-9]{{22}}", shown=3),
)

# Between a marker and the next five dashes lies the key; without an end marker, as many long base64 lines as follow.
_KEY_BREAK = r"""(?:\\[nrt]|["']\s?\+|[\s"',>|#*]){0,16}+"""
_KEY_LINES = (
    rf"(?:{_KEY_BREAK}[A-Za-z0-9+/=]{{20,}}+)++"
    r"(?:(?:\\n|\n)\s{0,8}+[A-Za-z0-9+/=]{1,19}+(?=[\s\\\"'-]|$))?"
)
_KEY_HEADERS = r"(?:(?:\s|\\[nr])*+[A-Za-z-]{3,24}+:[^\n\\]{0,120}+){0,6}+"
_HEADER = r"""(?i:authorization)(?:\\?["'`\])]|\s){0,4}+[:=,][\s"'`\\]{0,5}+"""

_STRUCTURES = (
    Rule("private-key", ("-----begin",),
         r"(?i:-----BEGIN[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)?-----)(?:(?:[^-]++|-(?!----))*+"
         r"(?:(?i:-----END[ A-Z0-9_-]{0,60}?KEY(?: BLOCK)?-----)|(?:(?<=KEY)|(?<=BLOCK))-----)"
         rf"|{_KEY_HEADERS}{_KEY_LINES})", "block", everywhere=True),
    Rule("private-key", ("key",),
         r"(?i:key-file-\d:)(?:(?!Private-Lines)[^\n]{0,100}+\n){1,64}+Private-Lines: \d{1,4}+"
         rf"({_KEY_LINES})", "block", everywhere=True),
    Rule("jwt", ("ey",),
         r"(?:(?<![A-Za-z0-9_\\-])|(?<=\\[nrt]))ey[A-Za-z0-9_-]{10,}+\.ey[A-Za-z0-9_/-]{10,}+"
         r"(?:\.[A-Za-z0-9_/-]*+){0,3}+={0,2}", shown=3),
    Rule("jwt", ("zxlk",), r"(?<![A-Za-z0-9+/_-])ZXlK[A-Za-z0-9+/\\_-]{40,}+={0,2}", shown=4),
    Rule("password-hash", ("$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2"),
         r"\$(?:2[aby]\$\d\d|[1567y]|apr1|argon2(?:id|i|d))\$[A-Za-z0-9./=,+$-]{22,}+"),
    Rule("password-hash", ("{sha}", "{ssha}", "{ssha512}"), r"\{S?SHA(?:512)?\}[A-Za-z0-9+/]{20,}+={0,2}"),
    Rule("url-password", ("://",),
         r"""://[^\s:/?"'<>`|\\]{0,128}+:([^\s/?"'<>`|\\]{1,256})@(?=[A-Za-z0-9\[_$%{-])""", "literal",
         everywhere=True),
    Rule("url-token", ("://",), r"://([A-Za-z0-9_-]{20,256}+)@(?![\w.-]{0,80}sentry)", "random", RANDOM_ENTROPY,
         everywhere=True),
    Rule("pgpass-password", (":5432:", ":5433:"),
         r":\d{4}:[^\s:]{1,64}+:[^\s:]{1,64}+:([^\s:]{4,128}+)", "literal"),
    Rule("kubernetes-secret", ("secret",),
         r"""(?:(?<=kind: )|(?<=kind: ["']))(?i:secret)\b[\s\S]{0,400}?\bdata:"""
         r"""((?:\s{1,9}+[\w.-]{1,80}+:[ \t]{0,4}+["']?[A-Za-z0-9+/]{8,}+={0,3}["']?)++)""",
         everywhere=True),
    Rule("curl-password", ("curl",),
         r"""(?i:curl)\b[^\n]{0,200}?[ \t](?:-u|--user)[ \t=]{0,4}["']?[^\s:"']{0,64}+:["']?([^\s"']{3,128}+)""",
         "literal", everywhere=True),
    Rule("authorization-header", ("auth",),
         rf"{_HEADER}(?i:(?:basic|bearer|token|apikey|api-token|digest|ssws|bot)\s{{1,4}}+)"
         r"(?=[A-Za-z_=~@.+/-]{0,128}+\d)([A-Za-z0-9_=~@.+/-]{8,}+)", "token", HEADER_ENTROPY, everywhere=True),
    Rule("authorization-header", ("auth",), rf"{_HEADER}([A-Za-z0-9_=~@.+/-]{{8,4096}}+)", "random", HEADER_ENTROPY,
         everywhere=True),
    Rule("authorization-header", ("bearer",), r"""(?i:bearer)[\s:"'\\]{1,4}+([A-Za-z0-9_=~.+/-]{16,4096}+)""",
         "random", RANDOM_ENTROPY, everywhere=True),
)

# How a name leads to its value: what closes the name, what joins the two, what opens the value.
_NAME_END = r"""(?:\\?["'`\])]|\s){0,12}+"""
_JOIN = (
    r"(?::\s{0,2}(?:str|[sS]tring|&str)\s{0,2}=|:{1,3}=|=>|->|\|\||[?+]?={1,3}|[:>,]"
    r"|value\s{0,2}=|</key>\s{0,9}<string>)"
)
_VALUE_START = r"""(?:[\s=]|["'`](?=[\s"'`=])|[rbfuRBFU@]{1,2}(?=\\?["'])|(?i:bearer\s)|(?i:basic\s)){0,12}+"""
_QUOTED = r"""(?:\\?"((?:[^"\\\n]++|\\[^"\n])++)|\\?'((?:[^'\\\n]++|\\[^'\n])++)|\\?`((?:[^`\\\n]++|\\[^`\n])++))"""
_BARE = r"((?:base64:)?[A-Za-z0-9_+/.~%!@#$^*?|-]{4,512}+(?::[A-Za-z0-9_-]{8,}+)?={0,3})"
_LEADS_TO = f"{_NAME_END}{_JOIN}{_VALUE_START}(?:{_QUOTED}|{_BARE})"

# `pass` alone must be a word or follow one it is often glued to; `surrogatepass` and `PassRole` are neither.
_PASSWORD = (
    r"(?:(?i:pass(?:w(?:or)?d|phrase|code)s?|pwd)(?![a-z])|(?i:pass)(?![A-Za-z])"
    r"(?:(?<![A-Za-z]pass)(?<![A-Za-z]PASS)|(?<=[a-z]Pass)|(?<=dbpass)|(?<=userpass)|(?<=rootpass)|(?<=mailpass)))"
)
_SECRET_NAME = (
    r"(?i:secret|token|auth(?!or|en)|cred|salt"
    r"|(?<!mon)(?<!tur)(?<!don)(?<!hoc)(?<!joc)(?<!hot)key(?!word|board|frame|stroke|note|press|error))"
)

_ASSIGNMENTS = (
    Rule("password", ("pass", "pwd"), rf"{_PASSWORD}[\w.\-]{{0,24}}+{_LEADS_TO}", "password", everywhere=True),
    Rule("password", ("pass", "pwd"),
         rf"{_PASSWORD}[\w.\-]{{0,24}}+(?:\s[^<>\n]{{0,80}}+)?>\s{{0,9}}+([^<>\s]{{3,256}}+)\s{{0,9}}+</", "literal",
         everywhere=True),
    Rule("password", ("login",),
         r"login[ \t\n]{1,8}+\S{1,128}+[ \t\n]{1,8}+password[ \t\n]{1,8}+(\S{3,128}+)", "literal", everywhere=True),
    Rule("password", ("pass",),
         r"(?<!/)(?i:pass(?:w(?:or)?d|phrase|code))"
         r"(?:[ \t](?:for|to|of|on)(?:[ \t][\w.-]{1,24}){1,3}?[ \t](?:is|was)[:\s]{1,3}+"
         r"|[ \t](?:(?:is|was|to|as)[:\s]{1,3}+)?|:[ \t]{1,2}+)"
         r"""["'`“]?(?!\w{1,40}+=)([^\s"'`<>“”]{6,128}+)""", "spoken", everywhere=True),
    Rule("assigned-secret", ("secret",), rf"(?:(?<=[_.-])(?i:secret)|(?<=[a-z])Secret)(?!\w){_LEADS_TO}", "password",
         everywhere=True),
    Rule("assigned-secret", ("secret", "token", "key", "auth", "cred", "salt"),
         rf"{_SECRET_NAME}[ \t\w.\-]{{0,24}}+{_LEADS_TO}", "random", RANDOM_ENTROPY,
         everywhere=True),
)

# Named beside a random string, any of these makes the string a credential.
SERVICES = (
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

RULES = (
    *_CLOUD, *_FORGES, *_MODELS, *_CHAT, *_COMMERCE, *_TOOLS, *_STRUCTURES, *_ASSIGNMENTS, *_SERVICE_KEYS,
)
"""Every rule, the more specific first: on overlap the earlier row names the secret."""
# fmt: on

# Words that stand where a secret would and are none.
COMMON_WORDS = frozenset(
    "true false yes no on off none null nil undefined nan empty unset required optional string str text bytes "
    "number int integer bool boolean any object void unknown never hidden default todo tbd changeme changeit "
    "replaceme fixme redacted masked removed secret token key value password passwd passphrase passcode "
    "pass pwd password1 pass1 pw user username port host mypassword yourpassword newpassword oldpassword "
    "wrongpassword currentpassword testpassword invalid missing valid correct incorrect".split()
)
# A name that ends like this holds something about the secret, not the secret.
ABOUT_WORDS = frozenset(
    "field label placeholder hint name type path file dir url uri endpoint len length size min max limit policy "
    "reset changed created updated expires expiry at count index id ids input prompt regex pattern rule rules "
    "validator error errors msg message title text required enabled strength manager store env var ref arn column "
    "prefix format version hash sha md digest checksum used usage frame frames lifetime ttl duration mgr role".split()
)
# Before `key` or `token`, these say that it opens nothing.
HARMLESS_WORDS = frozenset(
    "public pub primary foreign cache sort partition unique object idempotency storage map index lookup group row "
    "dedup dedupe hash sha commit checksum digest fingerprint trace span host routing join order state shard "
    "bucket tenant child translation next page continuation cursor sync cancel cancellation max prompt input output "
    "total completion".split()
)
OPENER_WORDS = frozenset("key keys token tokens".split())
