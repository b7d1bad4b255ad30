"""Commands for the offline model packs: which there are, where they lie, and how they come here."""

from __future__ import annotations

import argparse
from pathlib import Path

from recollect.core.errors import UnknownChoice
from recollect.embed.errors import INSTALL, PackCorrupt
from recollect.embed.install import install
from recollect.embed.packs import DEFAULT, Pack, installed, models_folder, verify
from recollect.embed.sources import Local, Source, sources_of
from recollect.files.project import user_store_path
from recollect.interfaces.cli.console import FINE, FOUND, Console
from recollect.models.rerank.packs import EVERY as PACKS
from recollect.models.rerank.packs import PACKS as RERANKERS

_MB = 1_000_000


def arguments_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("list", "install", "path"), default="list", help="what to do (default: list)"
    )
    parser.add_argument("pack", nargs="?", metavar="PACK", help=f"which: {', '.join(PACKS)} (default: {DEFAULT})")
    parser.add_argument(
        "--from", dest="origin", metavar="PATH", help="install from this folder, file, wheel or zip, and nowhere else"
    )


def run_models(args: argparse.Namespace, console: Console) -> int:
    folder = models_folder(user_store_path().parent)
    if args.pack is not None and args.pack not in PACKS:
        raise UnknownChoice("pack", args.pack, PACKS)
    chosen = PACKS.get(args.pack)
    if args.action == "install":
        return _install(chosen or PACKS[DEFAULT], folder, args.origin, console)
    if args.action == "path":
        return _path(chosen, folder, console)
    return _list([chosen] if chosen else list(PACKS.values()), folder, console)


def _install(pack: Pack, folder: Path, origin: str | None, console: Console) -> int:
    def progress(file: str, done: int, total: int) -> None:
        console.progress(f"{pack.name}/{file} (kB)", done // 1000, total // 1000)

    sources: tuple[Source, ...] = sources_of(pack) if origin is None else (Local(Path(origin).expanduser()),)
    try:
        home = install(pack, folder, sources, progress=progress)
    finally:
        console.progress_done()
    if console.json:
        console.value(_pack_json(pack, folder))
    else:
        console.line(f"{pack.name} is installed and verified: {home}")
        console.line(f"{pack.model}, {_use(pack)}, {pack.licence}")
    return FINE


def _use(pack: Pack) -> str:
    return f'reranker: set `reranker = "onnx:{pack.name}"`' if pack.name in RERANKERS else f"{pack.dims} dimensions"


def _path(pack: Pack | None, folder: Path, console: Console) -> int:
    path = folder if pack is None else folder / pack.name
    if console.json:
        console.value({"path": str(path), "installed": pack is None or installed(pack, folder)})
    else:
        console.line(str(path))
        if pack is not None and not installed(pack, folder):
            console.note(f"  → It is not installed: `{INSTALL} {pack.name}`.")
    return FINE


def _list(packs: list[Pack], folder: Path, console: Console) -> int:
    facts = [_pack_json(pack, folder) for pack in packs]
    if console.json:
        console.value({"folder": str(folder), "packs": facts})
    else:
        for pack, fact in zip(packs, facts, strict=True):
            console.line(f"{pack.name:>8}  {fact['state']:<9}  {pack.size / _MB:>4.0f} MB  {pack.about}")
        if all(fact["state"] == "missing" for fact in facts):
            console.note(f"  → `{INSTALL}` fetches one.")
    return FOUND if any(fact["state"] == "damaged" for fact in facts) else FINE


def _pack_json(pack: Pack, folder: Path) -> dict[str, object]:
    return {
        "name": pack.name,
        "state": _state(pack, folder),
        "model": pack.model,
        "dims": pack.dims,
        "bytes": pack.size,
        "licence": pack.licence,
        "path": str(folder / pack.name),
    }


def _state(pack: Pack, folder: Path) -> str:
    if not installed(pack, folder):
        return "missing"
    try:
        verify(pack, folder)
    except PackCorrupt:
        return "damaged"
    return "installed"
