"""Commands that change what is remembered: init, remember, the acts on one memory, and undo."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import InvalidField, RecollectError
from recollect.core.fields import DRAFTED, FIELDS, Field
from recollect.core.forms import parse_form
from recollect.core.given_json import parse_given_json
from recollect.core.query import ANY_USER
from recollect.core.records import Memory
from recollect.core.scope import CorrectionReason, Status
from recollect.core.text import counted, excerpt
from recollect.files.known_stores import note_store
from recollect.files.plain import open_in_own_folder
from recollect.interfaces.cli.console import (
    FINE,
    Console,
    filter_arguments,
    filter_from,
    given_text,
    is_agreed,
    is_narrowed,
    note_agent,
    open_from,
    parse_moment,
    require_person,
)
from recollect.interfaces.payloads.memories import forgotten_json, memory_json, receipt_json
from recollect.wiring import PERSONAL

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.app import Recollect

# --- init ----------------------------------------------------------------------------------------------------------


def arguments_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="NAME", help="the project's name (default: from its first git commit)")


def run_init(args: argparse.Namespace, console: Console) -> int:
    from recollect.wiring import open as open_memory

    with open_memory(args.store, actor=args.actor, project=args.project) as memory:
        ignore = None if memory.path is None else memory.path.parent / ".gitignore"
        if ignore is not None and memory.path is not None and memory.path.parent.name == ".recollect":
            _ignore_memories(os.fspath(ignore))
        if memory.path is not None:
            note_store(str(memory.path))
        state = {"path": memory.location, "project": memory.project, "memories": memory.count()}
    if console.json:
        console.value(state)
    else:
        console.line(f"Memory of {state['project']} is ready at {state['path']}.")
        console.line('Teach it: recollect remember "…"   Ask it: recollect recall "…"')
    return FINE


def _ignore_memories(file: str) -> None:
    """Keep memories out of commits: they are shared by sync. What is there already stays; a link is not followed."""
    if not os.path.lexists(file):
        with open(open_in_own_folder(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as made:
            made.write("*\n")


# --- remember ------------------------------------------------------------------------------------------------------


def arguments_remember(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="the statement; read from stdin when absent or -")
    _field_options(parser, DRAFTED)
    parser.add_argument("--jsonl", action="store_true", help="stdin holds one JSON draft per line")


def run_remember(args: argparse.Namespace, console: Console) -> int:
    if args.jsonl:
        return _remember_lines(args, console)
    draft = _draft(args, given_text(args.text))
    with open_from(args, create=True) as memory:
        receipt = memory.remember_all([draft])[0]
    if console.json:
        console.value(receipt_json(receipt))
    else:
        _show_receipt(receipt, console)
    note_agent(args, console)
    return FINE


def _field_options(parser: argparse.ArgumentParser, fields: Sequence[Field], *, editing: bool = False) -> None:
    """An option for each field that has one. What is not given stays None."""
    for field in fields:
        if not field.option:
            continue
        about = field.about
        options: dict[str, Any] = {"dest": field.name, "metavar": field.metavar or field.option[2:].upper()}
        if editing:
            about = f"replaces all {field.name}; repeatable" if field.form == "labels" else about.split(" (default")[0]
        if field.form == "flag":
            options = {"dest": field.name, "action": "store_true", "default": None}
        elif field.form == "labels":
            options["action"] = "append"
        elif field.form == "real":
            options["type"] = float
        parser.add_argument(field.option, **options, help=about or None)


def _given_fields(args: argparse.Namespace, fields: Sequence[Field]) -> dict[str, Any]:
    """What was given of some fields, as a Draft takes it."""
    given: dict[str, Any] = {}
    for field in fields:
        value = getattr(args, field.name) if field.option else None
        if value is None:
            continue
        if field.form == "moment":
            value = parse_moment(value, field.option.lstrip("-"))
        elif field.form == "payload":
            value = _parse_object(value, field.name)
        given[field.name] = value
    return given


def _draft(args: argparse.Namespace, content: str) -> Draft:
    personal = {"visibility": "personal"} if args.store == PERSONAL else {}
    return Draft(content, **{**personal, **_given_fields(args, DRAFTED)})


def _remember_lines(args: argparse.Namespace, console: Console) -> int:
    """All lines or none: what is wrong with one names it, and nothing was stored."""
    lines = {
        number: line
        for number, line in enumerate(given_text(["-"]).split("\n"), 1)  # U+2028 inside a text ends no line
        if line.strip()
    }
    if not lines:
        raise InvalidField("stdin", "there is no line", hint="Give one JSON object a line, with `content`.")
    drafts = [_draft_from_line(number, line) for number, line in lines.items()]
    with open_from(args, create=True) as memory:
        try:
            receipts = memory.remember_all(drafts)
        except RecollectError as error:
            if error.number is not None:
                problem = str(error).removeprefix(f"Number {error.number} of {len(drafts)}: ")
                error.args = (f"line {list(lines)[error.number - 1]}: {problem}",)
                error.hint = error.hint or "Nothing was stored. Correct that line and try again."
            elif len(lines) == 1:
                error.args = (f"line {next(iter(lines))}: {error}",)
            raise
    tally: dict[str, int] = {}
    for receipt in receipts:
        tally[receipt.verdict] = tally.get(receipt.verdict, 0) + 1
    if console.json:
        console.value({"count": len(receipts), "verdicts": tally, "ids": [receipt.id for receipt in receipts]})
    else:
        console.line(f"{len(receipts)} remembered: " + ", ".join(f"{n} {name}" for name, n in sorted(tally.items())))
    note_agent(args, console)
    return FINE


def _draft_from_line(number: int, line: str) -> Draft:
    fields = _parse_object(line, f"line {number}")
    known = {field.name: field for field in DRAFTED}
    for unknown in sorted(set(fields) - set(known)):
        raise InvalidField(f"line {number}: {unknown}", "a draft has no such field")
    if "content" not in fields:
        raise InvalidField(f"line {number}: content", "it is missing")
    return Draft(**{name: _parse_field(known[name], value, f"line {number}: {name}") for name, value in fields.items()})


def _parse_field(field: Field, value: Any, named: str) -> Any:
    """A field of a draft as JSON spells it; types are checked with the whole draft."""
    if value is None:
        return None
    match field.form:
        case "moment":
            if not isinstance(value, str):
                raise InvalidField(named, f"expected a date as a text, not {type(value).__name__}")
            return parse_moment(value, named)
        case "decay" | "span" | "work_unit":
            try:
                return parse_form(field, value)
            except (AttributeError, KeyError, TypeError, ValueError):
                raise InvalidField(named, f"not a {field.form.replace('_', ' ')} as Recollect writes it") from None
    return value


def _parse_object(text: str, field: str) -> dict[str, Any]:
    value = parse_given_json(text, field)
    if not isinstance(value, dict):
        raise InvalidField(field, "expected a JSON object")
    return value


def _show_receipt(receipt: Receipt, console: Console) -> None:
    words = {
        "new": "Remembered",
        "same": "Known already",
        "supersedes": f"Remembered, superseding {', '.join(receipt.against)}",
        "contradicts": "Remembered, to be reviewed",
        "closed": f"Now {receipt.memory.status}",
        "ends": f"Valid until {_told_moment(receipt.memory.valid_until)}, {receipt.memory.status} until then",
        "narrowed": f"Now holds only in {', '.join((*receipt.memory.files, *receipt.memory.modules))}",
    }
    console.line(f"{words[receipt.verdict]}: {receipt.id}  [{receipt.memory.kind}]")
    for rule in receipt.redacted:
        console.note(f"  ! a secret ({rule}) was replaced by a placeholder")
    for note in receipt.notes:
        console.note(f"  ! {note}")


def _told_moment(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"


# --- acts on one memory --------------------------------------------------------------------------------------------


def _arguments_act(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the memory; its last letters suffice")
    parser.add_argument("--why", default="", help="the reason, for the log")


arguments_dispute = _arguments_act


def arguments_confirm(parser: argparse.ArgumentParser) -> None:
    _arguments_act(parser)
    parser.add_argument("--if-revision", type=int, metavar="N", help="only if nobody changed it since")


arguments_reject = arguments_confirm


_EDITED = tuple(field for field in FIELDS if field.edit)


def arguments_edit(parser: argparse.ArgumentParser) -> None:
    _arguments_act(parser)
    parser.add_argument("text", nargs="*", help="the new text, if it changes; with --open, further memories")
    parser.add_argument("--open", action="store_true", help="edit one or many memories in $VISUAL or $EDITOR")
    _field_options(parser, _EDITED, editing=True)
    parser.add_argument("--if-revision", type=int, metavar="N", help="only if nobody changed it since")


def run_edit(args: argparse.Namespace, console: Console) -> int:
    if args.open:
        from recollect.interfaces.cli.editor import edit_in_editor

        return edit_in_editor(args, console)
    changes = _given_fields(args, _EDITED)
    if args.text:
        changes["content"] = given_text(args.text)
    if not changes:
        raise InvalidField("edit", "nothing to change", hint="Give a new text or an option such as --kind.")
    with open_from(args) as memory:
        return _show_changed(
            console, "Changed", memory.edit(args.id, why=args.why, if_revision=args.if_revision, **changes)
        )


def arguments_correct(parser: argparse.ArgumentParser) -> None:
    _arguments_act(parser)
    parser.add_argument("text", nargs="*", help="what is true instead; `-` reads stdin; without it, only the reason")
    parser.add_argument(
        "--reason", choices=[str(reason) for reason in CorrectionReason], default="inaccurate",
        help="inaccurate (default): wrong, never comes back; outdated: held until --until; too_specific: say it more "
        "generally, or where it holds; duplicate: another memory says the same",
    )  # fmt: skip
    parser.add_argument("--duplicate-of", metavar="ID", help="the memory that stays")
    parser.add_argument("--until", metavar="DATE", help="until when an outdated one held (default: now)")
    parser.add_argument("--file", action="append", metavar="PATH", help="where it holds; repeatable")
    parser.add_argument("--module", action="append", metavar="NAME", help="where it holds; repeatable")
    parser.add_argument("--if-revision", type=int, metavar="N", help="only if nobody changed it since")


def run_correct(args: argparse.Namespace, console: Console) -> int:
    # What is wrong without better words is rejected: that is a command of its own, so a forgotten text is an error.
    content = given_text(args.text) if args.text or args.reason == CorrectionReason.INACCURATE else None
    with open_from(args) as memory:
        receipt = memory.correct(
            args.id,
            content,
            reason=args.reason,
            duplicate_of=args.duplicate_of,
            until=parse_moment(args.until, "until"),
            files=args.file,
            modules=args.module,
            why=args.why,
            if_revision=args.if_revision,
        )
    if console.json:
        console.value(receipt_json(receipt))
    else:
        _show_receipt(receipt, console)
    note_agent(args, console)
    return FINE


def run_confirm(args: argparse.Namespace, console: Console) -> int:
    require_person(args, "confirm a memory")
    with open_from(args) as memory:
        confirmed = memory.confirm(args.id, why=args.why, if_revision=args.if_revision)
        _show_changed(console, "Confirmed", confirmed)
        closed = _closed_by(memory, confirmed)
    for rival in closed:
        console.note(f"  {rival.status}, because it contradicts that: {rival.id}  {excerpt(rival.content, 60)}")
    if closed:
        console.note("  `recollect undo` takes all of it back; `recollect review --keep-both ID` keeps both.")
    return FINE


def _closed_by(memory: Recollect, confirmed: Memory) -> list[Memory]:
    """What the same act closed, because it contradicts what was confirmed."""
    account = memory.why(confirmed.id)
    ids = [link.target for link in account.points_at if link.target] + [link.source for link in account.pointed_at_by]
    closed = (Status.REJECTED, Status.SUPERSEDED)
    return [
        found
        for found in memory.reader.get_many(list(dict.fromkeys(ids))).memories
        if found.status in closed and found.updated_at == confirmed.updated_at
    ]


def run_reject(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        rejected = memory.reject(args.id, why=args.why, if_revision=args.if_revision)
        return _show_changed(console, "Rejected, and it will not come back", rejected)


def run_dispute(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        return _show_changed(console, "Disputed", memory.dispute(args.id, why=args.why))


def arguments_pin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the memory; its last letters suffice")
    parser.add_argument("--off", action="store_true", help="let it fade again")


def run_pin(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        return _show_changed(console, "Unpinned" if args.off else "Pinned", memory.pin(args.id, pinned=not args.off))


def arguments_forget(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="*", help="memories; their last letters suffice")
    parser.add_argument("--filter", action="store_true", help="all that the filters below let through, instead")
    parser.add_argument("--dry-run", action="store_true", help="of a filter: tell what would go; change nothing")
    parser.add_argument("--yes", action="store_true", help="of a filter: do not ask")
    parser.add_argument("--why", default="", help="the reason, for the log")
    filter_arguments(parser)


def run_forget(args: argparse.Namespace, console: Console) -> int:
    _require_ids_or_filter(args)
    with open_from(args) as memory:
        found = memory.list(filter_from(args, everyone=ANY_USER), limit=_ALL) if args.filter else ()
        if args.filter and not _is_forgetting_agreed(found, args, console):
            return FINE
        gone = memory.forget_all([one.id for one in found] or args.id, why=args.why)
        told = forgotten_json(gone[0], memory.path)
        if len(gone) > 1:
            told["forgotten"] = [one.id for one in gone]
    if console.json:
        console.value(told)
        return FINE
    console.line(f"Forgotten for good: {gone[0].id if len(gone) == 1 else f'{len(gone):,} memories'}")
    for lingering in dict.fromkeys(one.lingering for one in gone if one.lingering):
        console.note(f"  ! a copy may linger: {lingering}")
    if told["backups"]:
        console.note(f"  ! {counted(len(told['backups']), 'backup')} made earlier may still hold it")
    return FINE


_ALL = 2**31
_LISTED = 10  # memories shown before asking


def _require_ids_or_filter(args: argparse.Namespace) -> None:
    if bool(args.id) == args.filter:
        raise InvalidField("forget", "give memories or --filter", hint="`recollect forget ID` or `--filter --tag old`.")
    if args.filter and not is_narrowed(args):
        raise InvalidField(
            "filter", "it lets everything through", hint="Add --kind, --tag …, or see `recollect erase`."
        )
    if not args.filter and is_narrowed(args):
        raise InvalidField("forget", "filters need --filter", hint="`recollect forget --filter --tag old`.")


def _is_forgetting_agreed(found: Sequence[Memory], args: argparse.Namespace, console: Console) -> bool:
    """Show how many a filter lets through, and ask."""
    if console.json and (args.dry_run or not found):
        console.value({"would_forget": [one.id for one in found]})
    elif not console.json:
        for one in found[:_LISTED]:
            console.line(f"- {one.id}  [{one.kind}] {excerpt(one.content, 90)}")
        more = f", {len(found) - _LISTED:,} of them not shown" if len(found) > _LISTED else ""
        console.line(f"{len(found):,} would be forgotten{more}.")
    if args.dry_run or not found:
        return False
    if args.yes or is_agreed(f"Forget {len(found):,} for good? It cannot be undone.", "forget"):
        return True
    console.note("Nothing was forgotten.")
    return False


def arguments_undo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="undo the last change to this memory (default: your own last change)")
    parser.add_argument("--why", default="", help="the reason, for the log")


def run_undo(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        undone = memory.undo(args.id, why=args.why)
    if console.json:
        console.value({"act": undone.act, "actions": list(undone.actions), "memories": list(undone.memories)})
    else:
        console.line(f"Undone: {', '.join(undone.actions)} of {', '.join(undone.memories) or 'the store'}")
    return FINE


def _show_changed(console: Console, what: str, memory: Memory) -> int:
    if console.json:
        console.value(memory_json(memory))
    else:
        console.line(f"{what}: {memory.id}  {excerpt(memory.content, 80)}")
    return FINE
