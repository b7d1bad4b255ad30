from __future__ import annotations

import pytest

from recollect.agent.hosts import toml

NOTE = "# Recollect: a note."
TABLES = '[plugins."recollect@here"]\nenabled = true\n\n[mcp_servers.recollect]\ncommand = "x"\n'


def ours(name: toml.Name) -> bool:
    return name[:2] in {("plugins", "recollect@here"), ("mcp_servers", "recollect")}


PEOPLES = [
    "",
    "a = 1\n",
    "# only words\n",
    'x = [\n [1],\n ["["],\n]\ny = """\n[no]\n"""\n[t]\nz = 1\n# the end\n',
    "a=1\r\n[b]\r\nc=2\r\n",
    "a = 1\n\n\n",
    "[[list]]\na = '['\n[[list]]\na = '''\n[x]'''\n",
    'odd = "line\u2028[not a table]"\n',
]


@pytest.mark.parametrize("text", PEOPLES)
def test_tables_put_in_come_out_and_leave_the_text_as_it_was(text: str) -> None:
    put = toml.put_tables(text, f"{NOTE}\n{TABLES}")
    assert toml.load(put)["mcp_servers"] == {"recollect": {"command": "x"}}
    assert toml.take_tables(put, ours, note=NOTE) == text


@pytest.mark.parametrize("text", PEOPLES)
def test_what_a_host_writes_behind_our_tables_stays(text: str) -> None:
    theirs = '\n# theirs\n[hooks.state."x:y"]\ntrusted_hash = "1"\n'
    put = toml.put_tables(text, f"{NOTE}\n{TABLES}") + theirs
    assert toml.take_tables(put, ours, note=NOTE) == text + theirs


def test_tables_below_ours_go_with_it() -> None:
    text = "[mcp_servers.recollect]\ncommand = 'x'\n[mcp_servers.recollect.env]\nA = '1'\n[mcp_servers.other]\nb = 1\n"
    assert toml.take_tables(text, ours, note=NOTE) == "[mcp_servers.other]\nb = 1\n"


def test_a_comment_of_others_above_our_table_stays() -> None:
    text = f"a = 1\n# mine\n\n{NOTE}\n{TABLES}"
    assert toml.take_tables(text, ours, note=NOTE) == "a = 1\n# mine\n"


@pytest.mark.parametrize("text", ["a = ", "[a\n", "mcp_servers = 1\n"])
def test_a_text_that_is_not_toml_or_has_no_room_is_refused(text: str) -> None:
    with pytest.raises(toml.BrokenToml):
        toml.put_tables(text, TABLES)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", "[b]\ny = 2\n"),
        ("[a]\nx = 1\n", "[a]\nx = 1\n\n[b]\ny = 2\n"),
        ("[a]\nx = 1", "[a]\nx = 1\n\n[b]\ny = 2\n"),
        ("[a]\r\nx = 1\r\n", "[a]\r\nx = 1\r\n\r\n[b]\r\ny = 2\r\n"),
    ],
)
def test_tables_stand_behind_the_rest_with_one_blank_line_between(text: str, whole: str) -> None:
    assert toml.put_tables(text, "[b]\ny = 2\n") == whole
