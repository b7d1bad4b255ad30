"""The hosts we install into: for each one the edits we want in its files, and what is left to a person. Hosts differ
in file, event names and the shape around one same line: start our hook, wait this long at most, go on without it.

Pure: nothing here reads or writes a host's files; opencode alone is asked which of its settings files is there.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from recollect.agent.hosts.edits import DesiredEdit, HostTrace, JsonEntries, MarkedBlock, TomlTables, WholeFile
from recollect.agent.hosts.target import InstallTarget
from recollect.core.errors import UnknownChoice

HOOK_SECONDS = 2  # how long a host waits for a hook that hangs; the hook itself gives up well before
MARKETPLACE, PLUGIN = "recollect-local", "recollect"
PLUGIN_ID = f"{PLUGIN}@{MARKETPLACE}"
_ABOUT = "Long-term memory: what was decided, learnt and broken before, when it matters."


@dataclass(frozen=True, slots=True)
class Host:
    """One program people work with."""

    edits: Callable[[InstallTarget], list[DesiredEdit]]
    hints: Callable[[InstallTarget], list[str]]


def find_host(name: str) -> Host:
    if name not in HOSTS:
        raise UnknownChoice("host", name, HOSTS)
    return HOSTS[name]


def load_rules() -> str:
    """The few lines for hosts that cannot be given memories, so that the model asks for them by itself."""
    return files("recollect.agent.hosts").joinpath("rules.txt").read_text(encoding="utf-8")


def to_json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _server(target: InstallTarget) -> dict[str, Any]:
    return {"command": target.recollect, "args": ["mcp"]}


def _hook_groups(
    events: Sequence[str], hook: Mapping[str, Any], *, matcher: str | None = None
) -> dict[str, list[dict[str, Any]]]:
    """The form of Claude Code, which Codex and Gemini CLI share: event → groups → hooks."""
    group = {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}
    return {event: [group] for event in events}


# --- the plugin of Claude Code and Codex -----------------------------------------------------------------------------

_CLAUDE_EVENTS = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch PreCompact Stop SessionEnd"
).split()
_CODEX_EVENTS = "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SessionEnd".split()


def _marketplace(target: InstallTarget) -> Path:
    """A folder below our data that is a marketplace with one plugin in it; hosts are only told where it is."""
    return target.data / "marketplace"


def _marketplace_files(target: InstallTarget) -> list[WholeFile]:
    listing = {
        "name": MARKETPLACE,
        "owner": {"name": "Recollect"},
        "plugins": [{"name": PLUGIN, "source": f"./plugins/{PLUGIN}", "description": _ABOUT}],
    }
    inside = [(f"plugins/{PLUGIN}/{name}", content) for name, content in _plugin_files(target)]
    root = _marketplace(target)
    return [
        WholeFile(root / name, to_json(content))
        for name, content in [(".claude-plugin/marketplace.json", listing), *inside]
    ]


def _plugin_files(target: InstallTarget) -> list[tuple[str, dict[str, Any]]]:
    """The plugin's own files: the hooks of each host in its own form, and the server they share."""
    about = {"name": PLUGIN, "version": target.version, "description": _ABOUT, "license": "Apache-2.0"}
    claude = {"type": "command", "command": target.hook, "args": ["claude-code"], "timeout": HOOK_SECONDS}
    return [
        (".claude-plugin/plugin.json", {**about, "author": {"name": "Recollect"}}),
        (".codex-plugin/plugin.json", {**about, "mcpServers": "./.mcp.json", "hooks": "./hooks/codex-hooks.json"}),
        (".mcp.json", {"mcpServers": {"recollect": _server(target)}}),
        ("hooks/hooks.json", {"hooks": _hook_groups(_CLAUDE_EVENTS, claude)}),
        ("hooks/codex-hooks.json", {"hooks": _codex_hooks(target)}),
    ]


def _codex_hooks(target: InstallTarget) -> dict[str, list[dict[str, Any]]]:
    """Claude Code starts a program with arguments; Codex takes one line."""
    hook = {"type": "command", "command": target.hook_line("codex"), "timeout": HOOK_SECONDS}
    return _hook_groups(_CODEX_EVENTS, hook)


# --- Claude Code -----------------------------------------------------------------------------------------------------


def _claude_edits(target: InstallTarget) -> list[DesiredEdit]:
    """The plugin, named in the settings; for a project in those that are not shared with others."""
    home = target.folder("CLAUDE_CONFIG_DIR", ".claude")
    local = target.project / ".claude" / "settings.local.json"
    source = {"source": {"source": "directory", "path": str(_marketplace(target))}}
    settings = JsonEntries(
        local if target.scope == "project" else home / "settings.json",
        members=((("extraKnownMarketplaces", MARKETPLACE), source), (("enabledPlugins", PLUGIN_ID), True)),
    )
    known = HostTrace(home / "plugins" / "known_marketplaces.json", (MARKETPLACE,))
    return [*_marketplace_files(target), settings, known]


def _claude_hints(target: InstallTarget) -> list[str]:
    trust = (
        "Claude Code loads a project's own plugins only after you have trusted the folder; it asks when started there."
    )
    restart = "Restart sessions that are already open. `/hooks` and `/mcp` in Claude Code list Recollect."
    return [trust, restart] if target.scope == "project" else [restart]


# --- Codex -----------------------------------------------------------------------------------------------------------

_NOTE = "# Recollect: made by `recollect install codex`, removed by `recollect uninstall codex`."


def _codex_edits(target: InstallTarget) -> list[DesiredEdit]:
    """The same plugin, put where Codex keeps installed ones and switched on in its settings; for a project, hooks and
    server in the project's own settings. Codex runs no hook that a person has not approved, and we never approve our
    own."""
    if target.scope == "project":
        folder = target.project / ".codex"
        server = f'[mcp_servers.recollect]\ncommand = {_toml_string(target.recollect)}\nargs = ["mcp"]\n'
        items = tuple((("hooks", event), groups[0]) for event, groups in _codex_hooks(target).items())
        return [
            JsonEntries(folder / "hooks.json", items=items),
            TomlTables(folder / "config.toml", server, (("mcp_servers", "recollect"),), _NOTE),
        ]
    home = target.folder("CODEX_HOME", ".codex")
    tables = (
        f'[marketplaces.{MARKETPLACE}]\nsource_type = "local"\nsource = {_toml_string(str(_marketplace(target)))}\n\n'
        f'[plugins."{PLUGIN_ID}"]\nenabled = true\n'
    )
    families = (("marketplaces", MARKETPLACE), ("plugins", PLUGIN_ID), ("hooks", "state", f"{PLUGIN_ID}:*"))
    cache = home / "plugins" / "cache" / MARKETPLACE / PLUGIN / target.version
    cached = [WholeFile(cache / name, to_json(content)) for name, content in _plugin_files(target)]
    return [*_marketplace_files(target), *cached, TomlTables(home / "config.toml", tables, families, _NOTE)]


def _codex_hints(target: InstallTarget) -> list[str]:
    project = ["Codex reads a project's own settings only after you have trusted the project."]
    return [
        *(project if target.scope == "project" else []),
        "Codex skips hooks nobody has approved, without a word: open `codex`, type /hooks, look at those of "
        "recollect and trust them. After an update of Recollect that may be asked again; `recollect doctor` tells.",
    ]


def _toml_string(text: str) -> str:
    """JSON's escapes are TOML's too, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- Gemini CLI ------------------------------------------------------------------------------------------------------

# `PreCompress` fires on every turn and `BeforeTool` cannot add context, so neither is asked for.
_GEMINI_EVENTS = "SessionStart BeforeAgent AfterTool AfterAgent SessionEnd".split()


def _gemini_edits(target: InstallTarget) -> list[DesiredEdit]:
    """An extension for the person; hooks and server in the project's settings for a project."""
    home = target.folder("GEMINI_CLI_HOME", ".") / ".gemini"
    hook = {
        "type": "command",
        "name": "recollect",
        "command": _gemini_line(target),
        "timeout": HOOK_SECONDS * 1000,  # milliseconds here, unlike the others
    }
    hooks = _hook_groups(_GEMINI_EVENTS, hook, matcher="*")
    if target.scope == "project":
        items = tuple((("hooks", event), groups[0]) for event, groups in hooks.items())
        members = ((("mcpServers", "recollect"), _server(target)),)
        approved = HostTrace(home / "trusted_hooks.json", (str(target.project),), lines=True)
        return [JsonEntries(target.project / ".gemini" / "settings.json", members=members, items=items), approved]
    folder = home / "extensions" / "recollect"
    about = {"name": "recollect", "version": target.version, "mcpServers": {"recollect": _server(target)}}
    return [
        WholeFile(folder / "gemini-extension.json", to_json(about)),
        WholeFile(folder / "hooks" / "hooks.json", to_json({"hooks": hooks})),
    ]


def _gemini_line(target: InstallTarget) -> str:
    """Look for the program first, then put it in the shell's place.

    Gemini CLI stops the agent at any exit code above 1, such as a shell's for a program that is gone, and ends a hook
    that hangs by ending the shell.
    """
    plain = target.hook_line("gemini")
    return plain if target.platform == "win32" else f"[ -x {shlex.quote(target.hook)} ] || exit 0; exec {plain}"


def _gemini_hints(target: InstallTarget) -> list[str]:
    trust = "Gemini CLI runs hooks only in folders it trusts; it asks the first time."
    return ["`gemini extensions list` shows us.", trust] if target.scope == "user" else [trust]


# --- Cursor ----------------------------------------------------------------------------------------------------------

_CURSOR_EVENTS = (
    "sessionStart beforeSubmitPrompt preToolUse postToolUse postToolUseFailure preCompact stop sessionEnd"
).split()


def _cursor_edits(target: InstallTarget) -> list[DesiredEdit]:
    """Hooks, the server, and for a project a rule, because Cursor takes no context with a prompt."""
    folder = (target.project if target.scope == "project" else target.home) / ".cursor"
    hook = {"command": target.hook_line("cursor"), "timeout": HOOK_SECONDS}
    edits: list[DesiredEdit] = [
        JsonEntries(
            folder / "hooks.json",
            needs=(("version", 1),),
            items=tuple((("hooks", event), hook) for event in _CURSOR_EVENTS),
        ),
        JsonEntries(folder / "mcp.json", members=((("mcpServers", "recollect"), _server(target)),)),
    ]
    if target.scope == "project":
        head = "---\ndescription: Long-term memory of this project\nglobs:\nalwaysApply: true\n---\n\n"
        edits.append(WholeFile(folder / "rules" / "recollect.mdc", head + load_rules()))
    return edits


def _cursor_hints(target: InstallTarget) -> list[str]:
    switch = "Switch the server `recollect` on in Cursor's settings under MCP, if Cursor asks."
    rules = "Cursor reads rules from projects only: `recollect install cursor --project` adds one to a project."
    return [switch, rules] if target.scope == "user" else [switch]


# --- opencode --------------------------------------------------------------------------------------------------------

_OPENCODE_NAMES = ("opencode.jsonc", "opencode.json", "config.json")
_OPENCODE_SCHEMA = "https://opencode.ai/config.json"  # opencode adds it to a file without
_OPENCODE_TIMEOUT = 10_000  # ms the host may wait for our server's tools; its own default is half of that


def _opencode_edits(target: InstallTarget) -> list[DesiredEdit]:
    """A plugin of a few lines of JavaScript that starts our hook, and the server in the settings file that is there,
    else in a new one; a project's settings lie in its root."""
    names: Sequence[str] = _OPENCODE_NAMES
    if target.scope == "project":
        names, folder, plugins = names[:2], target.project, target.project / ".opencode"
    else:
        moved = target.environment.get("OPENCODE_CONFIG_DIR")
        folder = plugins = Path(moved) if moved else target.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    settings = next((folder / name for name in names if (folder / name).is_file()), folder / "opencode.json")
    command = [target.recollect, "mcp"]
    server = {"type": "local", "command": command, "enabled": True, "timeout": _OPENCODE_TIMEOUT}
    return [
        JsonEntries(settings, members=((("mcp", "recollect"), server),), needs=(("$schema", _OPENCODE_SCHEMA),)),
        WholeFile(plugins / "plugins" / "recollect.js", _opencode_script(target)),
    ]


def _opencode_script(target: InstallTarget) -> str:
    template = files("recollect.agent.hosts").joinpath("opencode.js").read_text(encoding="utf-8")
    hook, milliseconds = json.dumps(target.hook), str(HOOK_SECONDS * 1000)
    return template.replace('"@HOOK@"', hook).replace('"@MILLISECONDS@"', milliseconds)


def _opencode_hints(target: InstallTarget) -> list[str]:
    return ["opencode loads plugins when it starts: restart it."]


# --- VS Code ---------------------------------------------------------------------------------------------------------

_VSCODE_EVENTS = "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop".split()
_VSCODE_HEAD = '---\ndescription: Long-term memory\napplyTo: "**"\n---\n\n'


def _vscode_edits(target: InstallTarget) -> list[DesiredEdit]:
    """VS Code with Copilot: the server, hooks, and instructions, because a prompt takes no context there. Calls its
    servers `servers`, and lists hooks below their events without groups."""
    hook = {"type": "command", "command": target.hook_line("vscode"), "timeout": HOOK_SECONDS}
    if target.scope == "project":
        servers = target.project / ".vscode" / "mcp.json"
        hooks = target.project / ".github" / "hooks" / "recollect.json"
        instructions = target.project / ".github" / "instructions" / "recollect.instructions.md"
    else:
        profile = _vscode_profile(target)
        servers = profile / "mcp.json"
        hooks = target.home / ".copilot" / "hooks" / "recollect.json"
        instructions = profile / "prompts" / "recollect.instructions.md"
    return [
        JsonEntries(servers, members=((("servers", "recollect"), {"type": "stdio", **_server(target)}),)),
        WholeFile(hooks, to_json({"hooks": {event: [hook] for event in _VSCODE_EVENTS}})),
        WholeFile(instructions, _VSCODE_HEAD + load_rules()),
    ]


def _vscode_profile(target: InstallTarget) -> Path:
    portable = target.environment.get("VSCODE_PORTABLE")
    if portable:
        return Path(portable) / "user-data" / "User"
    if target.platform == "win32":
        return target.folder("APPDATA", "AppData/Roaming") / "Code" / "User"
    if target.platform == "darwin":
        return target.home / "Library" / "Application Support" / "Code" / "User"
    return target.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User"


def _vscode_hints(target: InstallTarget) -> list[str]:
    start = "Start the server `recollect` once from the MCP view; VS Code asks whether you trust it."
    private = "The new files name programs of this machine: keep them out of version control."
    return [start, private] if target.scope == "project" else [start]


# --- Windsurf --------------------------------------------------------------------------------------------------------

_WINDSURF_HEAD = "---\ntrigger: always_on\ndescription: Long-term memory of this project\n---\n\n"


def _windsurf_edits(target: InstallTarget) -> list[DesiredEdit]:
    """It shows a hook's words to the person only, so memory comes through the server and a rule."""
    if target.scope == "project":
        rule = target.project / ".windsurf" / "rules" / "recollect.md"
        return [WholeFile(rule, _WINDSURF_HEAD + load_rules())]
    folder = target.home / ".codeium" / "windsurf"
    return [
        JsonEntries(folder / "mcp_config.json", members=((("mcpServers", "recollect"), _server(target)),)),
        MarkedBlock(folder / "memories" / "global_rules.md", load_rules()),
    ]


def _windsurf_hints(target: InstallTarget) -> list[str]:
    if target.scope == "project":
        return ["Windsurf knows servers of a person only: `recollect install windsurf` adds ours."]
    return ["Press refresh in Windsurf's MCP panel."]


HOSTS: Mapping[str, Host] = {
    "claude-code": Host(_claude_edits, _claude_hints),
    "codex": Host(_codex_edits, _codex_hints),
    "gemini": Host(_gemini_edits, _gemini_hints),
    "cursor": Host(_cursor_edits, _cursor_hints),
    "opencode": Host(_opencode_edits, _opencode_hints),
    "vscode": Host(_vscode_edits, _vscode_hints),
    "windsurf": Host(_windsurf_edits, _windsurf_hints),
}
