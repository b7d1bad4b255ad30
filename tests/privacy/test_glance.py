"""A first look may say yes in vain; it never says no where a rule would find something."""

from __future__ import annotations

import subprocess
import sys

import pytest

from privacy.test_scan import IN_CONTEXT, SECRETS
from recollect.privacy.glance import may_hold_secret
from recollect.privacy.scan import scan

_PLANTED = [
    "PW: swordfish", "pw = dragon12", "contraseña: swordfish", "пароль: swordfish", "密码：swordfish",
    "비밀번호: swordfish",   
    "パスワード: swordfish", "hasło: dragon12", "mysql -u root -pswordfish shop", "redis-cli -h db -a swordfish ping",
    "ldapsearch -x -D cn=admin -w swordfish", "unzip -P swordfish a.zip", "echo 'swordfish' | sudo -S reboot",
    "postgres://joe:swordfish@db/app", "https://joe:swordfish@git.internal/x.git", "*:*:*:joe:swordfish",
    "db:5432:shop:joe:swordfish", "jdbc:oracle:thin:joe/swordfish@db:1521", "IDENTIFIED BY 'swordfish'",
    "login: joe / dragon12", "you can log in with joe:dragon12", "net use Z: //h/s /user:joe dragon12",
    "snmp-server community dragon12 RO", "curl -u joe:swordfish https://x.io",
    "getConnection('jdbc:mysql://h', 'joe', 'dragon12')",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_token_is_worth_asking_the_rules_about(name: str) -> None:
    assert may_hold_secret(f'{{"prompt":"use {SECRETS[name]} here"}}')


@pytest.mark.parametrize("name", IN_CONTEXT)
def test_so_is_what_its_surroundings_give_away(name: str) -> None:
    frame, secret = IN_CONTEXT[name]
    assert may_hold_secret(frame.format(secret))


@pytest.mark.parametrize("text", _PLANTED)
def test_so_is_a_password_in_its_place(text: str) -> None:
    assert scan(text)
    assert may_hold_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"session_id":"3fa91c7e-5b08-4264-a3fa-91c7e5b08d26","cwd":"/home/joe/src","prompt":"list the files"}',
        '{"tool_name":"Bash","tool_use_id":"toolu_01XjJ56JdAqR5Y45LNAkWQAY","tool_input":{"command":"ls src"}}',
        '{"at":"2026-11-16T00:42:42.123Z","tool_name":"Read","tool_input":{"file_path":"/home/joe/src/app/views.py"}}',
    ],
)
def test_an_ordinary_event_loads_no_rule(text: str) -> None:
    assert not may_hold_secret(text)


def test_looking_loads_no_rule() -> None:
    program = "import sys; from recollect.privacy import glance; print('recollect.privacy.rules' in sys.modules)"
    paths = [path for path in sys.path if path]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
