"""`recollect completion SHELL`: a script for bash, zsh or fish, made from the parser itself."""

from __future__ import annotations

import argparse

from recollect.interfaces.cli.console import FINE, Console

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
    options = _options()
    script = _fish(options) if args.shell == "fish" else _bash(options)
    if args.shell == "zsh":
        script = "autoload -U +X bashcompinit && bashcompinit\n" + script
    if console.json:
        console.value({"shell": args.shell, "script": script})
    else:
        console.line(script)
    return FINE


def _options() -> dict[str, list[str]]:
    """The options of every command."""
    from recollect.interfaces.cli import full_parser

    subparsers = next(a for a in full_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {
        name: sorted(option for action in parser._actions for option in action.option_strings if option[:2] == "--")
        for name, parser in subparsers.choices.items()
    }


def _bash(options: dict[str, list[str]]) -> str:
    cases = "\n".join(
        f'    {name}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")) ;;' for name, words in options.items()
    )
    return _BASH.format(commands=" ".join(options), cases=cases)


def _fish(options: dict[str, list[str]]) -> str:
    lines = [f'complete -c recollect -f -n __fish_use_subcommand -a "{" ".join(options)}"']
    lines += [
        f"complete -c recollect -n '__fish_seen_subcommand_from {name}' -l {word[2:]}"
        for name, words in options.items()
        for word in words
    ]
    return "\n".join(lines) + "\n"
