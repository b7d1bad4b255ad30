"""Runs the real clients against the fake model (`make hosts`) and writes what held into docs/hosts.md.

The claims are the tests of tests/hosts; the clients come from the npm registry into a cache outside the repository.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT / "tests")  # instead of this folder, where `hosts` is this file
PAGE = ROOT / "docs" / "hosts.md"
_BEGIN, _END = "<!-- results: begin -->\n", "<!-- results: end -->\n"
_NAMES = {"claude-code": "Claude Code", "codex": "Codex CLI", "gemini": "Gemini CLI", "opencode": "opencode"}
_SKIPPED, _PASSED, _FAILED = "·", "✓", "✗"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", metavar="WORDS", help="only these claims; the page is left as it is")
    parser.add_argument(
        "--page", action="store_true", help="run nothing; write the page from the reports of the last run"
    )
    args = parser.parse_args()
    if args.k:
        return _pytest(["-k", args.k]).wait()
    clients = import_module("hosts.clients")
    folder = clients.CACHE / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    reports = [folder / "slow.xml", folder / "others.xml"]
    failed = [0]
    if not args.page:
        runs = [  # the slowest client beside the others
            _pytest(["-k", words, f"--junitxml={report}", "-o", "junit_family=xunit1"])
            for words, report in zip(("opencode", "not opencode"), reports, strict=True)
        ]
        failed = [run.wait() for run in runs]
    versions = {host: client.version for host, client in clients.CLIENTS.items()}
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(_BEGIN)
    table = rendered(read(reports), versions)
    PAGE.write_text(f"{head}{_BEGIN}{table}{_END}{rest.partition(_END)[2]}", encoding="utf-8")
    return max(failed)


def _pytest(words: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "RECOLLECT_HOSTS": "1"}
    return subprocess.Popen([sys.executable, "-m", "pytest", "tests/hosts", *words], cwd=ROOT, env=environment)


def read(reports: list[Path]) -> dict[str, dict[str, list[str]]]:
    """Claim → host → outcomes, in the order the tests ran."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case in (one for report in reports for one in ElementTree.parse(report).getroot().iter("testcase")):
        name, _, inside = case.get("name", "").partition("[")
        host, words = _host(inside.rstrip("]"))
        if "codex" in name:
            host = "codex"
        claim = name.removeprefix("test_").replace("_", " ") + (f": {words}" if words else "")
        failed = any(case.find(kind) is not None for kind in ("failure", "error"))
        outcome = _FAILED if failed else _SKIPPED if case.find("skipped") is not None else _PASSED
        found[claim][host].append(outcome)
    return found


def rendered(found: dict[str, dict[str, list[str]]], versions: dict[str, str]) -> str:
    heads = [f"{name} {versions[host]}" for host, name in _NAMES.items()]
    lines = [f"| claim | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for claim, outcomes in found.items():
        cells = ["—" if host not in outcomes else _worst(outcomes[host]) for host in _NAMES]
        lines.append(f"| {claim} | {' | '.join(cells)} |")
    counts = [outcome for outcomes in found.values() for many in outcomes.values() for outcome in many]
    told = f"{counts.count(_PASSED)} of {len(counts)} hold."
    return "\n".join([*lines, "", told, ""])


def _host(inside: str) -> tuple[str, str]:
    """The host in a test's parameters, and the other words."""
    for host in _NAMES:
        match = re.fullmatch(rf"(.*?)-?{re.escape(host)}-?(.*?)", inside)
        if match:
            return host, " ".join(filter(None, match.groups())).lstrip("-")
    return "", inside


def _worst(outcomes: list[str]) -> str:
    return next((one for one in (_FAILED, _SKIPPED) if one in outcomes), _PASSED)


if __name__ == "__main__":
    sys.exit(main())
