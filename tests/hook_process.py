"""Runs the hook in a process of its own and tells what it answered and what it loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw

SOURCE = Path(__file__).parents[1] / "src"
LEAN = [[], ["__main__", "apsw", "recollect"]]  # no costly module of the standard library, and these from elsewhere

_PROGRAM = """
import io, json, sys
sys.stdin = io.TextIOWrapper(io.BytesIO(sys.argv[1].encode()))
from recollect.interfaces.hook import main
main(["claude-code"])
heavy = {"dataclasses", "typing", "inspect", "pathlib", "subprocess", "hashlib"} & set(sys.modules)
strangers = {name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(chr(10) + json.dumps([sorted(heavy), sorted(strangers)]))
"""


def answer_and_modules(payload: dict[str, Any], folder: Path) -> tuple[str, list[list[str]]]:
    """The answer to an event, and the modules that were loaded for it: costly ones, and those of strangers."""
    driver = Path(apsw.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-c", _PROGRAM, json.dumps(payload)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{driver}"},
        check=True,
        timeout=60,
    )
    lines = done.stdout.splitlines()
    return lines[0], json.loads(lines[-1])
