"""Installing and uninstalling in a home of its own: every host, both scopes, settings as people have them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.agent.hosts.catalog import HOSTS, load_rules
from recollect.agent.hosts.check import installed_state
from recollect.agent.hosts.edits import HostConfigBroken, HostTrace, is_ours
from recollect.agent.hosts.install import (
    HostConfigLinked,
    HostConfigMoved,
    HostConfigUnwritable,
    install,
    plan_install,
    plan_uninstall,
    record_path,
    uninstall,
)
from recollect.agent.hosts.target import InstallTarget, ProgramMissing, current_target, find_program
from recollect.core.errors import UnknownChoice

AT = datetime(2026, 3, 1, tzinfo=UTC)
SCOPES = ("user", "project")
BOTH = [(host, scope) for host in HOSTS for scope in SCOPES]

# What people have in these files before us, with comments where the host allows them.
PEOPLES = {
    "home/.claude/settings.json": '{\n    "permissions": {"allow": []},\n    "enabledPlugins": {"x@y": true}\n}\n',
    "home/.claude/plugins/known_marketplaces.json": '{"theirs": {"source": {}}}\n',
    "project/.claude/settings.local.json": '{"env": {"A": "1"}}',
    "home/.codex/config.toml": '# mine\nmodel = "o"\n\n[mcp_servers.other]\ncommand = "x"\n# the end\n',
    "project/.codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n',
    "project/.codex/config.toml": "sandbox_mode = 'read-only'",
    "project/.gemini/settings.json": '{\r\n  // theme\r\n  "ui": {"theme": "dark"},\r\n}\r\n',
    "home/.cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}\n',
    "home/.cursor/mcp.json": '{\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t}\n}',
    "home/.config/opencode/opencode.jsonc": '{\n  // colours\n  "theme": "x", // dark\n}\n',
    "project/opencode.json": "",
    "home/.config/Code/User/mcp.json": '{\n  "servers": {},\n  "inputs": []\n}\n',
    "home/.codeium/windsurf/mcp_config.json": "{}",
    "home/.codeium/windsurf/memories/global_rules.md": "Be brief.",
    "project/.windsurf/rules/style.md": "Tabs.\n",
}


@pytest.fixture
def target(tmp_path: Path) -> InstallTarget:
    """A machine with one person, one project and nothing installed."""
    for folder in ("home", "project/.git", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("recollect", "recollect-hook"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    return InstallTarget(
        scope="user",
        home=tmp_path / "home",
        project=tmp_path / "project",
        data=tmp_path / "data" / "hosts",
        hook=str(tmp_path / "bin" / "recollect-hook"),
        recollect=str(tmp_path / "bin" / "recollect"),
        environment={"PATH": str(tmp_path / "bin")},
        platform="linux",
        version="1.2.3",
    )


def lived_in(target: InstallTarget) -> None:
    for name, text in PEOPLES.items():
        path = target.home.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def tree(target: InstallTarget) -> dict[str, bytes | None]:
    """Every file and folder outside our own data."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for folder in (target.home, target.project)
        for path in sorted(folder.rglob("*"))
    }


def put(host: str, target: InstallTarget) -> Any:
    return install(plan_install(host, target), target, at=AT)


def take(host: str, target: InstallTarget) -> Any:
    return uninstall(plan_uninstall(host, target), target, at=AT)


def _comments(text: str) -> list[str]:
    return re.findall(r"(?:^|(?<=[ ,]))(?://|#).*", text, re.MULTILINE)


def text_of(target: InstallTarget, host: str) -> str:
    return "\n".join(change.path.read_text(encoding="utf-8") for change in plan_install(host, target).changes)


# --- in and out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lived", [False, True])
@pytest.mark.parametrize(("host", "scope"), BOTH)
def test_uninstalling_restores_every_file_and_folder(target: InstallTarget, host: str, scope: Any, lived: bool) -> None:
    target = replace(target, scope=scope)
    if lived:
        lived_in(target)
    before = tree(target)
    assert put(host, target).changed
    assert tree(target) != before
    take(host, target)
    assert tree(target) == before
    assert installed_state(host, target) == "absent"


@pytest.mark.parametrize(("host", "scope"), BOTH)
def test_installing_twice_changes_nothing_the_second_time(target: InstallTarget, host: str, scope: Any) -> None:
    target = replace(target, scope=scope)
    lived_in(target)
    put(host, target)
    first = tree(target)
    assert put(host, target).changed == ()
    assert tree(target) == first
    assert installed_state(host, target) == "current"


@pytest.mark.parametrize(("host", "scope"), BOTH)
def test_a_plan_writes_nothing_and_shows_every_change(target: InstallTarget, host: str, scope: Any) -> None:
    target = replace(target, scope=scope)
    lived_in(target)
    before = tree(target)
    plan = plan_install(host, target)
    assert tree(target) == before
    assert not target.data.exists()
    for change in plan.changed:
        assert "+" in change.diff()
        assert str(change.path) in change.diff()


@pytest.mark.parametrize(("host", "scope"), BOTH)
def test_both_programs_are_named_by_their_absolute_path(target: InstallTarget, host: str, scope: Any) -> None:
    target = replace(target, scope=scope)
    put(host, target)
    text = text_of(target, host)
    assert host == "windsurf" or target.hook in text
    assert (host, scope) == ("windsurf", "project") or target.recollect in text


@pytest.mark.parametrize(("host", "scope"), BOTH)
def test_what_people_change_afterwards_survives_uninstalling(target: InstallTarget, host: str, scope: Any) -> None:
    target = replace(target, scope=scope)
    lived_in(target)
    before = tree(target)
    edited: list[Path] = []
    for change in put(host, target).changed:
        if change.before is None:
            continue
        text = change.path.read_bytes().decode()
        first = text.index("{") + 1 if change.path.suffix in (".json", ".jsonc") else 0
        added = ' "added": [1],' if first else "added = 1\n"
        change.path.write_bytes((text[:first] + added + text[first:]).encode())
        edited.append(change.path)
    take(host, target)
    for path in edited:
        now = path.read_bytes().decode()
        assert "added" in now
        assert "recollect" not in now
        old = (before[str(path)] or b"").decode()
        assert _comments(old) == _comments(now)
    others = {name: content for name, content in before.items() if Path(name) not in edited}
    assert {name: content for name, content in tree(target).items() if Path(name) not in edited} == others


def test_a_file_we_made_that_people_filled_stays_with_what_is_theirs(target: InstallTarget) -> None:
    put("cursor", target)
    servers = target.home / ".cursor" / "mcp.json"
    text = servers.read_text(encoding="utf-8").replace(
        '"mcpServers": {', '"mcpServers": {\n    "mine": {"command": "x"},'
    )
    servers.write_text(text, encoding="utf-8")
    take("cursor", target)
    assert json.loads(servers.read_text(encoding="utf-8")) == {"mcpServers": {"mine": {"command": "x"}}}
    assert not (target.home / ".cursor" / "hooks.json").exists()


def test_an_entry_of_that_name_from_before_us_comes_back(target: InstallTarget) -> None:
    servers = target.home / ".cursor" / "mcp.json"
    servers.parent.mkdir()
    servers.write_text('{"mcpServers": {"recollect": {"command": "mine"}}}', encoding="utf-8")
    put("cursor", target)
    edited = servers.read_text(encoding="utf-8").replace("{", '{"note": 1, ', 1)
    servers.write_text(edited, encoding="utf-8")
    take("cursor", target)
    assert json.loads(servers.read_text(encoding="utf-8")) == {
        "note": 1,
        "mcpServers": {"recollect": {"command": "mine"}},
    }


def test_without_our_records_our_parts_are_still_found(target: InstallTarget) -> None:
    lived_in(target)
    before = tree(target)
    for host in HOSTS:
        put(host, target)
    for record in (target.data / "installed").iterdir():
        record.write_text("{ broken", encoding="utf-8")
    assert {installed_state(host, target) for host in HOSTS} == {"current"}
    for host in HOSTS:
        take(host, target)
    after = tree(target)
    ours = [name for name in after if b"recollect" in (after[name] or b"")]
    assert ours == []
    assert {name for name, content in before.items() if content is not None} <= set(after)


def test_a_newer_version_replaces_the_older_and_undo_still_leads_back_to_the_start(target: InstallTarget) -> None:
    lived_in(target)
    before = tree(target)
    newer = replace(target, version="1.3.0", hook=str(Path(target.hook).parent / "new" / "recollect-hook"))
    for host in HOSTS:
        put(host, target)
        if host != "windsurf":
            assert installed_state(host, newer) == "outdated"
            put(host, newer)
        assert installed_state(host, newer) == "current"
    assert not [name for name in tree(target) if "1.2.3" in name]
    for host in HOSTS:
        take(host, newer)
    assert tree(target) == before


def test_the_plugin_stays_while_another_host_or_project_needs_it(target: InstallTarget) -> None:
    local = replace(target, scope="project")
    put("claude-code", target)
    put("claude-code", local)
    put("codex", target)
    manifest = target.data / "marketplace" / ".claude-plugin" / "marketplace.json"
    take("claude-code", target)
    take("codex", target)
    assert manifest.exists()
    assert installed_state("claude-code", local) == "current"
    take("claude-code", local)
    assert not (target.data / "marketplace").exists()


# --- what hosts are told ---------------------------------------------------------------------------------------------


def test_claude_code_gets_a_plugin_and_settings_that_only_name_it(target: InstallTarget) -> None:
    lived_in(target)
    put("claude-code", target)
    settings = json.loads((target.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert "hooks" not in settings
    assert settings["enabledPlugins"] == {"x@y": True, "recollect@recollect-local": True}
    folder = Path(settings["extraKnownMarketplaces"]["recollect-local"]["source"]["path"])
    hooks = json.loads((folder / "plugins/recollect/hooks/hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "SessionEnd"} <= set(hooks)
    handler = {"type": "command", "command": target.hook, "args": ["claude-code"], "timeout": 2}
    assert all(groups == [{"hooks": [handler]}] for groups in hooks.values())


def test_what_claude_code_noted_about_us_goes_and_the_rest_stays(target: InstallTarget) -> None:
    lived_in(target)
    put("claude-code", target)
    known = target.home / ".claude" / "plugins" / "known_marketplaces.json"
    known.write_text('{\n  "theirs": {"source": {}},\n  "recollect-local": {"source": {}}\n}\n', encoding="utf-8")
    take("claude-code", target)
    assert json.loads(known.read_text(encoding="utf-8")) == {"theirs": {"source": {}}}


def test_codex_is_never_given_a_hash_of_trust_and_loses_ours_on_the_way_out(target: InstallTarget) -> None:
    lived_in(target)
    put("codex", target)
    config = target.home / ".codex" / "config.toml"
    assert "trusted_hash" not in text_of(target, "codex")
    state_of = (
        '\n[hooks.state."recollect@recollect-local:hooks/codex-hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    )
    other = '\n[hooks.state."mine"]\ntrusted_hash = "sha256:2"\n'
    config.write_text(config.read_text(encoding="utf-8") + state_of + other, encoding="utf-8")
    assert installed_state("codex", target) == "current"
    take("codex", target)
    assert config.read_text(encoding="utf-8") == PEOPLES["home/.codex/config.toml"] + other


def test_a_line_for_a_shell_survives_spaces_and_quotes(target: InstallTarget) -> None:
    spaced = replace(target, hook="/Users/A B/it's/recollect-hook")
    assert shlex.split(spaced.hook_line("codex")) == ["/Users/A B/it's/recollect-hook", "codex"]
    assert replace(spaced, platform="win32").hook_line("codex") == '"/Users/A B/it\'s/recollect-hook" codex'


def test_gemini_cli_is_not_stopped_by_a_hook_that_is_gone(target: InstallTarget) -> None:
    gone = replace(target, hook="/Users/A B/it's/recollect-hook")
    put("gemini", gone)
    hooks = json.loads((target.home / ".gemini/extensions/recollect/hooks/hooks.json").read_text(encoding="utf-8"))
    line = hooks["hooks"]["AfterTool"][0]["hooks"][0]["command"]
    assert subprocess.run(line, shell=True, check=False).returncode == 0


def test_the_variables_that_move_a_host_are_honoured(target: InstallTarget, tmp_path: Path) -> None:
    moved = {
        "CLAUDE_CONFIG_DIR": ("claude-code", "settings.json"),
        "CODEX_HOME": ("codex", "config.toml"),
        "GEMINI_CLI_HOME": ("gemini", ".gemini/extensions/recollect/gemini-extension.json"),
        "OPENCODE_CONFIG_DIR": ("opencode", "plugins/recollect.js"),
        "VSCODE_PORTABLE": ("vscode", "user-data/User/mcp.json"),
    }
    for variable, (host, name) in moved.items():
        elsewhere = tmp_path / "moved" / variable
        put(host, replace(target, environment={variable: str(elsewhere)}))
        assert (elsewhere / name).is_file(), variable


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", ".config/Code/User"),
        ("darwin", "Library/Application Support/Code/User"),
        ("win32", "AppData/Roaming/Code/User"),
    ],
)
def test_vs_code_is_found_on_every_system(target: InstallTarget, platform: str, folder: str) -> None:
    put("vscode", replace(target, platform=platform, environment={}))
    assert (target.home / folder / "mcp.json").is_file()


def test_a_hook_of_somebody_else_is_never_taken_for_ours() -> None:
    ours = {"type": "command", "command": "/x/recollect-hook codex"}
    theirs = {"type": "command", "command": "say done"}
    assert is_ours({"matcher": "*", "hooks": [ours]})
    assert is_ours(ours)
    for item in (
        {"hooks": [ours, theirs]},
        {"hooks": []},
        {"hooks": ["x"]},
        {"hooks": 1},
        theirs,
        "recollect-hook",
        None,
    ):
        assert not is_ours(item)


def test_the_rules_fit_into_the_smallest_host() -> None:
    assert len(load_rules()) < 6_000


def test_the_script_for_opencode_holds_the_path_as_a_string_of_javascript(target: InstallTarget) -> None:
    odd = replace(target, hook='/x/"quoted"\\recollect-hook')
    put("opencode", odd)
    script = (target.home / ".config/opencode/plugins/recollect.js").read_text(encoding="utf-8")
    assert 'const HOOK = "/x/\\"quoted\\"\\\\recollect-hook"' in script
    assert "@" not in script.partition("const LONGEST")[0]


# --- bad input and trouble -------------------------------------------------------------------------------------------

_BROKEN = {
    ("claude-code", "home/.claude/settings.json"): ['{"a": 1', "[]", '{"enabledPlugins": []}', "\xff"],
    ("codex", "home/.codex/config.toml"): ["a = ", "plugins = 3\n"],
    ("cursor", "home/.cursor/hooks.json"): ['{"hooks": []}', '{"hooks": {"stop": {}}}'],
    ("opencode", "home/.config/opencode/opencode.json"): ["{'a': 1}"],
}


@pytest.mark.parametrize(
    ("host", "name", "text"), [(host, name, text) for (host, name), texts in _BROKEN.items() for text in texts]
)
def test_a_broken_settings_file_is_named_and_nothing_is_changed(
    target: InstallTarget, host: str, name: str, text: str
) -> None:
    path = target.home.parent / name
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("latin-1"))
    before = tree(target)
    with pytest.raises(HostConfigBroken, match=path.name):
        plan_install(host, target)
    assert tree(target) == before
    assert not target.data.exists()


def test_a_file_that_changes_between_plan_and_deed_is_left_alone(target: InstallTarget) -> None:
    lived_in(target)
    plan = plan_install("cursor", target)
    settings = target.home / ".cursor" / "mcp.json"
    settings.write_text("{}", encoding="utf-8")
    before = tree(target)
    with pytest.raises(HostConfigMoved):
        install(plan, target, at=AT)
    assert tree(target) == before
    assert installed_state("cursor", target) == "absent"


def test_a_write_that_fails_puts_back_what_was_written_before_it(target: InstallTarget) -> None:
    lived_in(target)
    rules_folder = target.home / ".codeium" / "windsurf" / "memories"
    (rules_folder / "global_rules.md").unlink()
    rules_folder.rmdir()
    rules_folder.write_text("a file where a folder should be", encoding="utf-8")
    before = tree(target)
    with pytest.raises(HostConfigUnwritable):
        put("windsurf", target)
    assert tree(target) == before


def test_a_link_stays_a_link_and_permissions_stay(target: InstallTarget, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "settings.json"
    kept.parent.mkdir()
    kept.write_text("{}\n", encoding="utf-8")
    kept.chmod(0o600)
    settings = target.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.symlink_to(kept)
    put("claude-code", target)
    assert settings.is_symlink()
    assert "recollect" in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o777 == 0o600
    take("claude-code", target)
    assert settings.is_symlink()
    assert kept.read_text(encoding="utf-8") == "{}\n"


def test_a_copy_of_every_changed_file_is_kept_and_private(target: InstallTarget) -> None:
    lived_in(target)
    done = put("cursor", target)
    copies = [Path(one) for one in done.copies]
    assert {one.read_bytes() for one in copies} == {
        PEOPLES["home/.cursor/hooks.json"].encode(),
        PEOPLES["home/.cursor/mcp.json"].encode(),
    }
    assert all(one.stat().st_mode & 0o077 == 0 for one in copies)
    record = record_path(target, "cursor")
    assert record.stat().st_mode & 0o077 == 0


def test_uninstalling_what_is_not_there_changes_nothing(target: InstallTarget) -> None:
    lived_in(target)
    before = tree(target)
    for host in HOSTS:
        assert take(host, target).changed == ()
    assert tree(target) == before


def test_an_unknown_host_is_told_the_known_ones(target: InstallTarget) -> None:
    with pytest.raises(UnknownChoice) as caught:
        plan_install("emacs", target)
    assert "claude-code" in caught.value.hint


def test_a_program_that_is_not_installed_is_said_so() -> None:
    with pytest.raises(ProgramMissing):
        find_program("recollect-nowhere", {"PATH": ""})


def test_the_project_is_the_working_copy_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    for name in ("recollect", "recollect-hook"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    found = current_target("project", environment={"PATH": ""}, start=inside)
    assert found.project == tmp_path
    assert found.hook == str(tmp_path / "recollect-hook")


def test_only_an_installation_into_a_project_speaks_of_trusting_its_folder(target: InstallTarget) -> None:
    def told(scope: str) -> str:
        return " ".join(plan_install("claude-code", replace(target, scope=scope)).hints)  # type: ignore[arg-type]

    assert "trusted the folder" in told("project")
    assert "trusted the folder" not in told("user")
    assert "Restart sessions" in told("user")


def test_what_a_host_noted_about_us_goes_and_what_it_noted_about_others_stays(tmp_path: Path) -> None:
    lines = HostTrace(tmp_path / "trusted_hooks.json", ("/p",), lines=True)
    said = '{"/p": ["recollect-hook gemini", "other-hook"], "/q": ["recollect-hook gemini"]}'
    assert json.loads(lines.take(said, None)) == {"/p": ["other-hook"], "/q": ["recollect-hook gemini"]}
    member = HostTrace(tmp_path / "known.json", ("ours",))
    assert json.loads(member.take('{"ours": {"a": 1}, "theirs": 2}', None)) == {"theirs": 2}


# --- links that came with a project -----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("host", sorted(host for host, scope in BOTH if scope == "project"))
@pytest.mark.parametrize("way", ["file", "folder", "nowhere"])
def test_a_link_in_a_project_is_never_written_through(target: InstallTarget, host: str, way: str) -> None:
    target = replace(target, scope="project")
    written = next(
        change.path for change in plan_install(host, target).changes if change.path.is_relative_to(target.project)
    )
    victim = target.home / "victim"
    if way == "folder" and written.parent != target.project:
        victim.mkdir()
        (victim / written.name).write_text("{}\n")
        written.parent.parent.mkdir(parents=True, exist_ok=True)
        written.parent.symlink_to(victim)
    else:
        written.parent.mkdir(parents=True, exist_ok=True)
        if way == "file":
            victim.write_text("{}\n")
        written.symlink_to(victim)
    before = tree(target)
    with pytest.raises(HostConfigLinked, match="is a link"):
        put(host, target)
    assert tree(target) == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_put_there_after_the_installation_is_not_written_through(target: InstallTarget) -> None:
    target = replace(target, scope="project")
    put("claude-code", target)
    planned = plan_uninstall("claude-code", target)
    settings = next(change.path for change in planned.changed if change.path.is_relative_to(target.project))
    victim = target.home / "victim"
    victim.write_bytes(settings.read_bytes())
    settings.unlink()
    settings.symlink_to(victim)
    before = tree(target)
    with pytest.raises(HostConfigLinked):
        uninstall(planned, target, at=AT)
    with pytest.raises(HostConfigLinked):
        put("claude-code", target)
    assert tree(target) == before
    assert installed_state("claude-code", target) == "broken"
