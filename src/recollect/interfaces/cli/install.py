"""What is put on this machine and taken off again: Recollect in hosts, offline model packs, shell completion."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField, UnknownChoice
from recollect.embed.install import Local, Source, list_sources
from recollect.embed.install import install as install_files
from recollect.embed.packs import DEFAULT_EMBEDDER, PACKS, RERANKERS, Pack, is_installed, models_folder, verify_pack
from recollect.embed.port import INSTALL, PackCorrupt
from recollect.files.project import user_store_path
from recollect.interfaces.cli.console import FINE, FOUND, Console
from recollect.interfaces.payloads.system import pack_json

if TYPE_CHECKING:
    from recollect.agent.hosts.install import Installation
    from recollect.agent.hosts.target import InstallTarget

_MARKS = {"create": "+", "change": "~", "remove": "-", "keep": "="}


def arguments_install(parser: argparse.ArgumentParser) -> None:
    _host_arguments(parser)
    parser.add_argument("--list", action="store_true", help="where it is installed, and whether that is up to date")


def arguments_uninstall(parser: argparse.ArgumentParser) -> None:
    _host_arguments(parser)


def _host_arguments(parser: argparse.ArgumentParser) -> None:
    from recollect.agent.hosts.catalog import HOSTS

    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"one or more of {', '.join(HOSTS)}")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--user", dest="scope", action="store_const", const="user", help="for all your projects (default)"
    )
    where.add_argument("--project", dest="scope", action="store_const", const="project", help="for this project only")
    parser.set_defaults(scope="user")
    parser.add_argument("--dry-run", action="store_true", help="show the changes as a diff and make none")


def run_install(args: argparse.Namespace, console: Console) -> int:
    from recollect.agent.hosts.install import install, plan_install

    target = _target(args)
    if args.list:
        return _list_hosts(target, console)
    plans = [plan_install(host, target) for host in _chosen_hosts(args)]  # all first: one broken file stops everything
    done = plans if args.dry_run else [install(plan_install(plan.host, target), target) for plan in plans]
    return _show_changes(done, args, console, already="is installed and up to date")


def run_uninstall(args: argparse.Namespace, console: Console) -> int:
    from recollect.agent.hosts.install import plan_uninstall, uninstall

    target = _target(args)
    plans = [plan_uninstall(host, target) for host in _chosen_hosts(args)]
    done = plans if args.dry_run else [uninstall(plan_uninstall(plan.host, target), target) for plan in plans]
    return _show_changes(done, args, console, already="holds nothing of ours")


def _target(args: argparse.Namespace) -> InstallTarget:
    from recollect.agent.hosts.target import current_target

    return current_target(args.scope)


def _chosen_hosts(args: argparse.Namespace) -> list[str]:
    if not args.hosts:
        from recollect.agent.hosts.catalog import HOSTS

        raise InvalidField("host", "none was named", hint=f"Name one or more of: {', '.join(HOSTS)}.")
    return list(dict.fromkeys(args.hosts))


def _list_hosts(target: InstallTarget, console: Console) -> int:
    from recollect.agent.hosts.catalog import HOSTS
    from recollect.agent.hosts.check import installed_state

    found = {host: installed_state(host, target) for host in HOSTS}
    if console.json:
        console.value({"scope": target.scope, "hosts": found})
        return FINE
    for host, told in found.items():
        console.line(f"{host:<12} {told}")
    return FINE


def _show_changes(done: list[Installation], args: argparse.Namespace, console: Console, *, already: str) -> int:
    if console.json:
        console.value(
            {"dry_run": args.dry_run, "scope": args.scope, "hosts": [_installation_json(one) for one in done]}
        )
        return FINE
    for one in done:
        if not one.changed:
            console.line(f"{one.host} {already}.")
        for change in one.changed:
            if args.dry_run:
                for line in change.diff().splitlines():
                    console.lines(line)
            else:
                console.line(f"{_MARKS[change.action]} {change.path}")
        if one.copies:
            console.line(f"Copies of what was there before: {Path(one.copies[0]).parent}")
        for hint in one.hints:
            console.note(f"  → {hint}")
    return FINE


def _installation_json(one: Installation) -> dict[str, Any]:
    return {
        "host": one.host,
        "scope": one.scope,
        "changed": [
            {"path": str(change.path), "action": change.action, "diff": change.diff()} for change in one.changed
        ],
        "kept": [str(change.path) for change in one.changes if change.action == "keep"],
        "copies": list(one.copies),
        "hints": list(one.hints),
    }


# --- offline model packs ---------------------------------------------------------------------------------------------


_MB = 1_000_000


def arguments_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("list", "install", "path"), default="list", help="what to do (default: list)"
    )
    parser.add_argument(
        "pack", nargs="?", metavar="PACK", help=f"which: {', '.join(PACKS)} (default: {DEFAULT_EMBEDDER})"
    )
    parser.add_argument(
        "--from", dest="origin", metavar="PATH", help="install from this folder, file, wheel or zip, and nowhere else"
    )


def run_models(args: argparse.Namespace, console: Console) -> int:
    folder = models_folder(user_store_path().parent)
    if args.pack is not None and args.pack not in PACKS:
        raise UnknownChoice("pack", args.pack, PACKS)
    chosen = PACKS.get(args.pack)
    if args.action == "install":
        return _install_pack(chosen or PACKS[DEFAULT_EMBEDDER], folder, args.origin, console)
    if args.action == "path":
        return _show_path(chosen, folder, console)
    return _list_packs([chosen] if chosen else list(PACKS.values()), folder, console)


def _install_pack(pack: Pack, folder: Path, origin: str | None, console: Console) -> int:
    def progress(file: str, done: int, total: int) -> None:
        console.progress(f"{pack.name}/{file} (kB)", done // 1000, total // 1000)

    sources: tuple[Source, ...] = list_sources(pack) if origin is None else (Local(Path(origin).expanduser()),)
    try:
        home = install_files(pack, folder, sources, progress=progress)
    finally:
        console.progress_done()
    if console.json:
        console.value(pack_json(pack, folder, _pack_state(pack, folder)))
    else:
        console.line(f"{pack.name} is installed and verified: {home}")
        console.line(f"{pack.model}, {_pack_use(pack)}, {pack.licence}")
    return FINE


def _pack_use(pack: Pack) -> str:
    return f'reranker: set `reranker = "onnx:{pack.name}"`' if pack.name in RERANKERS else f"{pack.dims} dimensions"


def _show_path(pack: Pack | None, folder: Path, console: Console) -> int:
    path = folder if pack is None else folder / pack.name
    if console.json:
        console.value({"path": str(path), "installed": pack is None or is_installed(pack, folder)})
    else:
        console.line(str(path))
        if pack is not None and not is_installed(pack, folder):
            console.note(f"  → It is not installed: `{INSTALL} {pack.name}`.")
    return FINE


def _list_packs(packs: list[Pack], folder: Path, console: Console) -> int:
    facts = [pack_json(pack, folder, _pack_state(pack, folder)) for pack in packs]
    if console.json:
        console.value({"folder": str(folder), "packs": facts})
    else:
        for pack, fact in zip(packs, facts, strict=True):
            console.line(f"{pack.name:>8}  {fact['state']:<9}  {pack.size / _MB:>4.0f} MB  {pack.about}")
        if all(fact["state"] == "missing" for fact in facts):
            console.note(f"  → `{INSTALL}` fetches one.")
    return FOUND if any(fact["state"] == "damaged" for fact in facts) else FINE


def _pack_state(pack: Pack, folder: Path) -> str:
    if not is_installed(pack, folder):
        return "missing"
    try:
        verify_pack(pack, folder)
    except PackCorrupt:
        return "damaged"
    return "installed"


# --- shell completion, made from the parser itself -------------------------------------------------------------------


_BASH = """\
_recollect() {{
  local command=${{COMP_WORDS[1]}} word=${{COMP_WORDS[COMP_CWORD]}}
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{commands}" -- "$word")); return; fi
  case "$command" in
{cases}
  esac
}}
complete -o default -F _recollect recollect
"""


def arguments_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run_completion(args: argparse.Namespace, console: Console) -> int:
    options = _command_options()
    script = _fish_script(options) if args.shell == "fish" else _bash_script(options)
    if args.shell == "zsh":
        script = "autoload -U +X bashcompinit && bashcompinit\n" + script
    if console.json:
        console.value({"shell": args.shell, "script": script})
    else:
        console.lines(script)
    return FINE


def _command_options() -> dict[str, list[str]]:
    """The options of every command."""
    from recollect.interfaces.cli import full_parser

    subparsers = next(a for a in full_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {
        name: sorted(option for action in parser._actions for option in action.option_strings if option[:2] == "--")
        for name, parser in subparsers.choices.items()
    }


def _bash_script(options: dict[str, list[str]]) -> str:
    cases = "\n".join(
        f'    {name}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")) ;;' for name, words in options.items()
    )
    return _BASH.format(commands=" ".join(options), cases=cases)


def _fish_script(options: dict[str, list[str]]) -> str:
    lines = [f'complete -c recollect -f -n __fish_use_subcommand -a "{" ".join(options)}"']
    lines += [
        f"complete -c recollect -n '__fish_seen_subcommand_from {name}' -l {word[2:]}"
        for name, words in options.items()
        for word in words
    ]
    return "\n".join(lines) + "\n"
