"""Planted secrets for the scanner's benchmark: files and sentences as people write them, and vendors' token formats.

A `{kind}` in a template stands for the secret, drawn anew each time; the rest is what surrounds it. Templates say
nothing of the rules: they were written from what such files look like. Formats follow the vendors' public documents.
"""

from __future__ import annotations

import base64
import random
import string

WORDS = (
    "swordfish dragon monkey sunshine trustno shadow master harbour crane velvet copper falcon juniper marble lantern "
    "pepper rocket saffron timber walnut zephyr breeze cobalt ember galaxy island jasmine kernel lagoon meadow nectar"
).split()
_LEET = str.maketrans("aoe", "@03")
_SIGNS = "!@#$%^&*+?-_="
HOSTS = ("db.internal", "10.0.3.17", "mail.acme.io", "localhost", "prod-1.example.org")
USERS = ("admin", "root", "deploy", "svc_backup", "alice", "j.doe", "app_rw")


class Draw:
    """Draws values of the kinds that templates name."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def of(self, alphabet: str, size: int) -> str:
        return "".join(self.chance.choice(alphabet) for _ in range(size))

    def password(self) -> str:
        """As people choose them: half of them without anything that looks generated."""
        word, other = self.chance.choice(WORDS), self.chance.choice(WORDS)
        return self.chance.choice(
            (
                f"{word}{self.chance.randint(1, 9999)}",
                f"{word.capitalize()}{self.chance.randint(10, 99)}{self.chance.choice(_SIGNS)}",
                f"{word.capitalize()}{other.capitalize()}{self.chance.randint(1, 99)}",
                f"{word.capitalize().translate(_LEET)}{self.chance.randint(1, 9)}",
                self.of(string.ascii_letters + string.digits + "!@#$%*-_", self.chance.randint(10, 18)),
                self.of(string.ascii_letters + string.digits, self.chance.randint(8, 20)),
                f"{word}{self.chance.choice('-_.')}{other}{self.chance.choice('-_.')}{self.chance.randint(2, 99)}",
                f"{word}{other}",
            )
        )

    def word(self) -> str:
        return self.chance.choice(WORDS) + self.chance.choice(("", self.chance.choice(WORDS)))

    def words(self) -> str:
        return "-".join(self.chance.sample(WORDS, 4))

    def value(self, kind: str) -> str:
        letters, lower = string.ascii_letters + string.digits, string.ascii_lowercase + string.digits
        if kind.startswith("hex"):
            return self.of("0123456789abcdef", int(kind[3:]))
        if kind.startswith("alnum"):
            return self.of(letters, int(kind[5:]))
        if kind.startswith("lower"):
            return self.of(lower, int(kind[5:]))
        if kind.startswith("upper"):
            return self.of(string.ascii_uppercase + string.digits, int(kind[5:]))
        if kind.startswith("digits"):
            return str(self.chance.randint(1, 9)) + self.of(string.digits, int(kind[6:]) - 1)
        if kind.startswith("url"):
            return self.of(letters + "_-", int(kind[3:]) - 1) + self.chance.choice(letters)
        if kind.startswith("b64_"):
            return base64.b64encode(self.chance.randbytes(int(kind[4:]))).decode()
        if kind == "uuid":
            return "-".join(self.of("0123456789abcdef", n) for n in (8, 4, 4, 4, 12))
        if kind == "basic":
            return base64.b64encode(f"{self.chance.choice(USERS)}:{self.password()}".encode()).decode()
        if kind == "b64pw":
            return base64.b64encode(self.password().encode()).decode()
        return {"pw": self.password, "word": self.word, "words": self.words}[kind]()


# What surrounds a secret, by the sort of place. `{user}` and `{host}` are no secrets.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "dotenv": (
        "DB_HOST={host}\nDB_USER={user}\nDB_PASSWORD={pw}\n",
        "MYSQL_ROOT_PASSWORD={word}\nMYSQL_DATABASE=shop\n",
        "export PGPASSWORD='{pw}'\npsql -h {host} -U {user} shop\n",
        'SMTP_PASS="{pw}"\nSMTP_PORT=587\n',
        "SECRET_KEY_BASE={hex64}\nRAILS_ENV=production\n",
        "API_KEY={uuid}\nDEBUG=false\n",
        "CLIENT_ID=4711\nCLIENT_SECRET={digits16}\n",
        "JWT_SECRET={words}\n",
        "REDIS_URL=redis://:{pw}@{host}:6379/0\n",
        "ADMIN_PW={pw}\n",
        "WIFI_PSK={pw}\n",
        "ENCRYPTION_KEY={b64_32}\n",
    ),
    "ini and properties": (
        "[client]\nuser = {user}\npassword = {word}\nhost = {host}\n",
        "spring.datasource.username={user}\nspring.datasource.password={pw}\n",
        "db.user={user}\ndb.pwd={word}\n",
        "[mail]\nsmtp_user: {user}\nsmtp_password: {pw}\n",
        "hibernate.connection.password {pw}\n",
        "keystore.password={pw}\ntruststore.pass={pw}\n",
        "ssl.key.password={pw}\n",
        "; backup account\nlogin={user}\npw={pw}\n",
        "[profile ci]\naws_access_key_id = AKIA{upper16}\naws_secret_access_key = {b64_30}\n",
        "[general]\nrpcuser={user}\nrpcpassword={alnum24}\n",
    ),
    "yaml": (
        "database:\n  adapter: postgresql\n  username: {user}\n  password: {word}\n",
        "production:\n  password: '{pw}'\n  host: {host}\n",
        "services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD={pw}\n",
        "apiVersion: v1\ndata:\n  password: {b64pw}\n  username: YWRtaW4=\nkind: Secret\nmetadata:\n  name: db\n",
        "apiVersion: v1\nkind: Secret\nstringData:\n  token: {alnum32}\n",
        "auth:\n  passphrase: {words}\n",
        "- name: create user\n  mysql_user:\n    name: app\n    password: {pw}\n    state: present\n",
        "ansible_become_pass: {pw}\nansible_user: {user}\n",
        "env:\n  - name: API_TOKEN\n    value: {alnum40}\n",
        "ldap:\n  bind_dn: cn=admin,dc=acme\n  bind_pw: {pw}\n",
    ),
    "json": (
        '{{"host": "{host}", "user": "{user}", "password": "{word}"}}',
        '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{basic}"}}}}}}',
        '{{\n  "client_id": "web-1",\n  "client_secret": "{alnum32}"\n}}',
        '{{"apiKey": "{hex32}", "region": "eu"}}',
        '{{"type": "sftp", "host": "{host}", "user": "{user}", "passphrase": "{pw}"}}',
        '{{"ConnectionStrings": {{"Default": "Server={host};Database=shop;User Id={user};Password={pw};"}}}}',
        '{{"subscriptionKey": "{hex32}"}}',
        '{{\\"password\\": \\"{pw}\\"}}',
        '{{"expires_in": 3600, "access_token": "{url60}"}}',
    ),
    "shell": (
        "mysql -u {user} -p{pw} -h {host} shop\n",
        "mysqldump --user={user} --password={pw} shop > dump.sql\n",
        "sshpass -p '{pw}' ssh {user}@{host}\n",
        "curl -u {user}:{pw} https://{host}/api/v1/items\n",
        'curl -H "Authorization: Basic {basic}" https://{host}/\n',
        'curl -H "X-Api-Key: {alnum32}" https://{host}/v2/jobs\n',
        "docker login -u {user} -p {pw} registry.acme.io\n",
        "redis-cli -h {host} -a {pw} ping\n",
        "echo '{pw}' | sudo -S systemctl restart nginx\n",
        "echo '{user}:{pw}' | chpasswd\n",
        "wget --user {user} --password {pw} https://{host}/file.zip\n",
        "psql postgresql://{user}:{pw}@{host}:5432/shop\n",
        "htpasswd -b /etc/nginx/.htpasswd {user} {pw}\n",
        "openssl enc -aes-256-cbc -in dump.sql -out dump.enc -pass pass:{pw}\n",
        "keytool -importkeystore -srckeystore a.p12 -storepass {pw} -alias web\n",
        "unzip -P {pw} reports.zip\n",
        "ldapsearch -x -D cn=admin,dc=acme -w {pw} -b dc=acme\n",
        "az storage blob list --account-name acme --account-key {b64_64}\n",
        "helm install shop ./chart --set db.password={pw}\n",
        "vault login {alnum26} && export PASSWORD={word}\n",
        "net use Z: \\\\{host}\\share /user:{user} {pw}\n",
        "git clone https://{user}:{pw}@{host}/shop.git\n",
        "export TOKEN={hex40}\n",
        "gpg --batch --passphrase {pw} -d secrets.gpg\n",
    ),
    "sql": (
        "CREATE USER '{user}'@'%' IDENTIFIED BY '{pw}';\n",
        "ALTER USER {user} IDENTIFIED BY {pw};\n",
        "CREATE ROLE {user} WITH LOGIN PASSWORD '{pw}';\n",
        "ALTER USER postgres WITH ENCRYPTED PASSWORD '{word}';\n",
        "CREATE LOGIN {user} WITH PASSWORD = N'{pw}', CHECK_POLICY = OFF;\n",
        "GRANT ALL ON shop.* TO '{user}'@'localhost' IDENTIFIED WITH mysql_native_password BY '{pw}';\n",
        "SET PASSWORD FOR '{user}'@'%' = PASSWORD('{pw}');\n",
        "sqlplus {user}/{pw}@{host}:1521/ORCL\n",
        "CREATE DATABASE LINK remote CONNECT TO {user} IDENTIFIED BY \"{pw}\" USING 'db';\n",
    ),
    "code": (
        "conn = psycopg2.connect(host='{host}', user='{user}', password='{pw}')\n",
        'String password = "{pw}";\n',
        "const apiKey = '{alnum32}';\n",
        'DriverManager.getConnection("jdbc:mysql://{host}/shop", "{user}", "{pw}");\n',
        'let url = "jdbc:oracle:thin:{user}/{pw}@{host}:1521:orcl";\n',
        "client = MongoClient('mongodb+srv://{user}:{pw}@{host}/shop')\n",
        "requests.get(url, auth=('{user}', '{pw}'))\n",
        'var connection = "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b64_32}";\n',
        'define("DB_PASSWORD", "{pw}");\n',
        "$cfg['Servers'][$i]['password'] = '{pw}';\n",
        "app.secret_key = '{words}'\n",
        'pw := "{pw}"\n',
        '<add key="SmtpPassword" value="{pw}" />\n',
        "<password>{pw}</password>\n",
        '<property name="password" value="{word}"/>\n',
        'private static final String SECRET = "{alnum24}";\n',
        "smtp.login('{user}', '{pw}')\n",
        "@pytest.fixture\ndef cfg():\n    return dict(user='{user}', passwd='{pw}')\n",
        'session.headers["Authorization"] = "Bearer {alnum40}"\n',
        "AccountName=acme;AccountKey={b64_64};EndpointSuffix=core.windows.net\n",
        'amqp = "amqp://{user}:{pw}@{host}:5672/%2f"\n',
    ),
    "terraform and ci": (
        'resource "aws_db_instance" "main" {{\n  username = "{user}"\n  password = "{pw}"\n}}\n',
        'variable "db_password" {{\n  type    = string\n  default = "{pw}"\n}}\n',
        'api_token = "{alnum40}"\n',
        "variables:\n  DEPLOY_PASSWORD: {pw}\n",
        "    - docker login -u ci -p {pw} registry.acme.io\n",
        "ENV ADMIN_PASSWORD={word}\n",
        "ARG NPM_TOKEN={alnum36}\n",
        "//registry.acme.io/:_authToken={uuid}\n",
        "//registry.acme.io/:_password={b64pw}\n",
        "steps:\n  - run: sonar-scanner -Dsonar.login={hex40}\n",
    ),
    "dotfiles": (
        "machine {host}\n  login {user}\n  password {pw}\n",
        "machine {host} login {user} password {word}\n",
        "{host}:5432:shop:{user}:{pw}\n",
        "*:*:*:{user}:{pw}\n",
        "https://{user}:{pw}@{host}\n",
        "[credential]\n\tusername = {user}\n\tpassword = {pw}\n",
        "account acme\nhost {host}\nuser {user}\npassword {pw}\n",
        'network={{\n  ssid="home"\n  psk="{pw}"\n}}\n',
        "[Interface]\nPrivateKey = {b64_32}\nAddress = 10.8.0.2/24\n",
        "enable secret {pw}\nsnmp-server community {pw} RO\n",
    ),
    "sentences": (
        "The password for {host} is {pw}, please keep it safe.",
        "login: {user} / {pw}",
        "credentials: {user}/{pw}",
        "you can log in with {user}:{pw}",
        "PW: {pw}",
        "pw = {pw}",
        "User: {user} Password: {pw}",
        "user/password: {user}/{pw}",
        "my passphrase is {words}",
        "ID: {user}\nPW: {pw}",
        "wifi password: {word}",
        "temporary pwd {pw} - change it at first login",
        "Passwort: {pw}",
        "contraseña: {pw}",
        "mot de passe : {pw}",
        "senha: {pw}",
        "пароль: {pw}",
        "密码：{pw}",
        "비밀번호: {pw}",
        "パスワード: {pw}",
        "hasło: {pw}",
        "wachtwoord is {pw}",
        "The api key is {alnum32}.",
        "use api key {uuid} for staging",
        "I set the admin password to {pw} yesterday.",
        "root password {pw} on all hosts",
        "token: {hex40}",
        "pass: {pw}",
        "ssh {user}@{host} (pw {pw})",
        "Username {user}, password {word}.",
    ),
}

# What vendors document: (vendor, format). Several formats of one vendor are one family.
VENDORS: tuple[tuple[str, str], ...] = (
    ("aws", "AKIA{upper16}"), ("aws", "ASIA{upper16}"), ("gcp", "AIza{url35}"), ("gcp", "GOCSPX-{url28}"),
    ("gcp", "ya29.{url120}"), ("azure", "{alnum3}8Q~{url34}"), ("github", "ghp_{alnum36}"),
    ("github", "gho_{alnum36}"), ("github", "ghs_{alnum36}"), ("github", "github_pat_{alnum22}_{alnum59}"),
    ("gitlab", "glpat-{url20}"), ("gitlab", "glrt-{url20}"), ("slack", "xoxb-{digits12}-{digits13}-{alnum24}"),
    ("slack", "xapp-1-A{upper10}-{digits13}-{hex64}"),
    ("slack", "hooks.slack.com/services/T{upper8}/B{upper8}/{alnum24}"), ("stripe", "sk_live_{alnum24}"),
    ("stripe", "rk_live_{alnum24}"), ("stripe", "whsec_{alnum32}"), ("twilio", "SK{hex32}"),
    ("sendgrid", "SG.{url22}.{url43}"), ("mailgun", "key-{hex32}"), ("mailchimp", "{hex32}-us12"),
    ("posthog", "phc_{alnum43}"), ("posthog", "phx_{alnum43}"), ("openai", "sk-proj-{url80}"),
    ("openai", "sk-{alnum48}"), ("anthropic", "sk-ant-api03-{url93}AA"), ("huggingface", "hf_{alnum34}"),
    ("npm", "npm_{alnum36}"), ("pypi", "pypi-AgEIcHlwaS5vcmc{url120}"), ("docker", "dckr_pat_{url27}"),
    ("rubygems", "rubygems_{hex48}"), ("digitalocean", "dop_v1_{hex64}"), ("newrelic", "NRAK-{upper27}"),
    ("sentry", "sntrys_{url100}"), ("sentry", "sntryu_{hex64}"), ("notion", "ntn_{digits11}{alnum35}"),
    ("notion", "secret_{alnum43}"), ("linear", "lin_api_{alnum40}"), ("figma", "figd_{url40}"),
    ("airtable", "pat{alnum14}.{hex64}"), ("shopify", "shpat_{hex32}"), ("shopify", "shpss_{hex32}"),
    ("square", "sq0atp-{url22}"), ("square", "EAAA{url60}"), ("plaid", "access-production-{uuid}"),
    ("supabase", "sbp_{hex40}"), ("vercel", "vcp_{alnum56}"), ("netlify", "nfp_{alnum36}"), ("heroku", "HRKU-{uuid}"),
    ("databricks", "dapi{hex32}"), ("grafana", "glsa_{alnum32}_{hex8}"), ("grafana", "glc_{b64_60}"),
    ("vault", "hvs.{url90}"), ("terraform", "{alnum14}.atlasv1.{url67}"), ("pulumi", "pul-{hex40}"),
    ("postman", "PMAK-{hex24}-{hex34}"), ("doppler", "dp.pt.{alnum43}"), ("age", "AGE-SECRET-KEY-1{upper58}"),
    ("telegram", "{digits10}:AA{url33}"), ("discord", "MT{alnum24}.G{url5}.{url38}"), ("dropbox", "sl.{url130}"),
    ("groq", "gsk_{alnum52}"), ("replicate", "r8_{alnum37}"), ("perplexity", "pplx-{alnum48}"),
    ("xai", "xai-{alnum80}"), ("nvidia", "nvapi-{url64}"), ("pinecone", "pcsk_{alnum5}_{alnum63}"),
    ("langsmith", "lsv2_pt_{hex32}_{hex10}"), ("langfuse", "sk-lf-{uuid}"), ("tavily", "tvly-{alnum32}"),
    ("firecrawl", "fc-{hex32}"), ("fireworks", "fw_{alnum24}"), ("cerebras", "csk-{lower48}"),
    ("jina", "jina_{hex32}{alnum28}"), ("voyage", "pa-{url43}"), ("elevenlabs", "sk_{hex48}"),
    ("planetscale", "pscale_tkn_{url43}"), ("neon", "napi_{lower64}"), ("fly", "fm2_{b64_90}"),
    ("render", "rnd_{alnum28}"), ("cloudflare", "v1.0-{hex24}-{hex146}"),
    ("tailscale", "tskey-auth-{alnum12}-{alnum32}"), ("twitch", "oauth:{lower30}"), ("hubspot", "pat-na1-{uuid}"),
    ("brevo", "xkeysib-{hex64}-{alnum16}"), ("resend", "re_{alnum8}_{alnum24}"), ("mandrill", "md-{alnum22}"),
    ("asana", "2/{digits16}/{digits16}:{hex32}"), ("clickup", "pk_{digits8}_{upper32}"),
    ("contentful", "CFPAT-{url43}"), ("typeform", "tfp_{alnum40}_{alnum16}"), ("launchdarkly", "sdk-{uuid}"),
    ("launchdarkly", "api-{uuid}"), ("honeycomb", "hcaik_{lower58}"), ("axiom", "xaat-{uuid}"),
    ("dynatrace", "dt0c01.{upper24}.{upper64}"), ("circleci", "CCIPAT_{alnum22}_{hex40}"),
    ("buildkite", "bkua_{hex40}"), ("sonar", "squ_{hex40}"), ("sourcegraph", "sgp_{hex16}_{hex40}"),
    ("crates", "cio{alnum32}"), ("jfrog", "AKCp{alnum69}"), ("artifactory", "cmVmd{alnum59}"),
    ("nuget", "oy2{lower43}"), ("hashicorp", "hvb.{url138}"), ("onepassword", "ops_eyJ{b64_120}"),
    ("databricks", "dose{hex32}"), ("dbt", "dbtc_{url40}"), ("prefect", "pnu_{alnum36}"),
    ("inngest", "signkey-prod-{hex64}"), ("onesignal", "os_v2_app_{lower103}"),
    ("rancher", "token-{lower5}:{lower54}"), ("docker-swarm", "SWMTKN-1-{lower50}-{lower25}"),
    ("scaleway", "SCW{upper17}"), ("backblaze", "K00{digits1}{alnum27}"), ("facebook", "EAAC{alnum120}"),
    ("instagram", "IGQV{url120}"), ("twitter", "AAAAAAAAAAAAAAAAAAAAA{alnum80}"),
    ("firebase", "AAAA{url7}:APA91b{url134}"), ("adyen", "AQE{url120}"), ("mollie", "live_{alnum30}"),
    ("flutterwave", "FLWSECK-{hex32}-X"), ("razorpay", "rzp_live_{alnum14}"), ("paystack", "sk_live_{hex40}"),
    ("intercom", "dG9rO{b64_44}"), ("okta", "00{url40}"), ("readme", "rdme_{lower70}"),
    ("atlassian", "ATATT3xFfGF0{url180}"), ("bitbucket", "ATBB{alnum32}"), ("trello", "ATTA{hex64}"),
    ("adobe", "p8e-{alnum32}"), ("yandex", "AQVN{url36}"), ("alibaba", "LTAI{alnum20}"), ("tencent", "AKID{alnum32}"),
    ("easypost", "EZAK{alnum54}"), ("shippo", "shippo_live_{hex40}"), ("lob", "live_{hex35}"),
    ("duffel", "duffel_live_{url43}"), ("e2b", "e2b_{hex40}"), ("browserbase", "bb_live_{url27}"),
    ("runpod", "rpa_{upper42}"), ("llamacloud", "llx-{alnum48}"), ("snyk", "snyk_uat.{hex8}.{url100}"),
    ("split", "sb_secret_{url31}"), ("xata", "xau_{alnum43}"), ("fauna", "fnA{url37}"),
    ("stytch", "secret-live-{url36}"), ("statsig", "secret-{alnum40}"), ("zapier", "sk-ak-{alnum25}"),
    ("modal", "as-{alnum22}"),
)  # fmt: skip
