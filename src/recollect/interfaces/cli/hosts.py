"""`recollect install` and `uninstall`: Recollect in the programs people work with, and out of them again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField
from recollect.interfaces.cli.console import FINE, Console

if TYPE_CHECKING:
    from recollect.agent.hosts.install import Installation
    from recollect.agent.hosts.target import InstallTarget

_MARKS = {"create": "+", "change": "~", "remove": "-", "keep": "="}


def arguments_install(parser: argparse.ArgumentParser) -> None:
    _arguments(parser)
    parser.add_argument("--list", action="store_true", help="where it is installed, and whether that is up to date")


def arguments_uninstall(parser: argparse.ArgumentParser) -> None:
    _arguments(parser)


def _arguments(parser: argparse.ArgumentParser) -> None:
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
        return _list(target, console)
    plans = [plan_install(host, target) for host in _hosts(args)]  # all of them first: a broken file stops everything
    done = plans if args.dry_run else [install(plan_install(plan.host, target), target) for plan in plans]
    return _tell(done, args, console, already="is installed and up to date")


def run_uninstall(args: argparse.Namespace, console: Console) -> int:
    from recollect.agent.hosts.install import plan_uninstall, uninstall

    target = _target(args)
    plans = [plan_uninstall(host, target) for host in _hosts(args)]
    done = plans if args.dry_run else [uninstall(plan_uninstall(plan.host, target), target) for plan in plans]
    return _tell(done, args, console, already="holds nothing of ours")


def _target(args: argparse.Namespace) -> InstallTarget:
    from recollect.agent.hosts.target import current_target

    return current_target(args.scope)


def _hosts(args: argparse.Namespace) -> list[str]:
    if not args.hosts:
        from recollect.agent.hosts.catalog import HOSTS

        raise InvalidField("host", "none was named", hint=f"Name one or more of: {', '.join(HOSTS)}.")
    return list(dict.fromkeys(args.hosts))


def _list(target: InstallTarget, console: Console) -> int:
    from recollect.agent.hosts.catalog import HOSTS
    from recollect.agent.hosts.check import installed_state

    found = {host: installed_state(host, target) for host in HOSTS}
    if console.json:
        console.value({"scope": target.scope, "hosts": found})
        return FINE
    for host, told in found.items():
        console.line(f"{host:<12} {told}")
    return FINE


def _tell(done: list[Installation], args: argparse.Namespace, console: Console, *, already: str) -> int:
    if console.json:
        console.value({"dry_run": args.dry_run, "scope": args.scope, "hosts": [_json(one) for one in done]})
        return FINE
    for one in done:
        if not one.changed:
            console.line(f"{one.host} {already}.")
        for change in one.changed:
            if args.dry_run:
                for line in change.diff().splitlines():
                    console.line(line)
            else:
                console.line(f"{_MARKS[change.action]} {change.path}")
        if one.copies:
            console.line(f"Copies of what was there before: {Path(one.copies[0]).parent}")
        for hint in one.hints:
            console.note(f"  → {hint}")
    return FINE


def _json(one: Installation) -> dict[str, Any]:
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
