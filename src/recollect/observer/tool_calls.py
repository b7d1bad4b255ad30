"""Reading what a host tells of a tool call: what it does, to which files, and how it was answered.

Hosts name their tools and arguments differently and some do everything through a shell, so names are read by what they
mean and a plain shell command as the action it is. Pure: the disk is never asked. A hook loads it, so it stays light.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import lru_cache
from re import Pattern

from recollect.observer.events import ActionType, ToolCall
from recollect.observer.file_changes import BEGIN_PATCH, command_changes, diff_names, is_file_name, patch_names
from recollect.observer.shell import ShellCommand, read_line

MAX_PATH_CHARS = 300  # anything longer is not the path of a project file
MAX_SUBJECT_CHARS = 400  # of a command, pattern or address that are kept
TEXT_KEPT = 8000  # characters of what was said; the lesson of a long text stands at its ends
RESULT_HEAD, RESULT_TAIL = 3000, 1000  # characters that are kept: imports and commands lead, failures end it
_PATHS_KEPT = 24  # files of one call that are kept
_CHANGED_KEPT = 200  # files one call changes that are kept
_SCRIPT_READ = 20_000  # characters of a script that are looked at
_NESTED = 3  # levels of arguments that are looked into
_ARGUMENTS = 60  # of a call or of a list of them that are looked at

_TOOLS = {
    ActionType.READ: "read view read_file view_file open open_file cat notebookread view_image read_many_files",
    ActionType.EDIT: "edit write multiedit notebookedit create str_replace insert apply_patch patch write_file "
    "edit_file undo_edit replace delete str_replace_editor str_replace_based_edit_tool file_editor delete_file",
    ActionType.SEARCH: "grep search rg grep_search search_file_content search_file search_dir code_search find_file "
    "codebase_search",
    ActionType.LIST: "glob ls list list_dir list_directory find list_files",
    ActionType.RUN: "bash shell run_shell_command run exec exec_command execute_bash run_in_terminal run_command "
    "local_shell run_ipython execute_ipython_cell powershell",
    ActionType.PLAN: "todowrite taskcreate update_plan task_tracker update_todo write_todos",
    ActionType.EXTERNAL: "webfetch websearch web_fetch web_search web_search_call fetch fetch_webpage browse "
    "browse_interactive browse_url browser url_fetch google_search google_web_search github",
}
_ACTIONS = {name: action for action, names in _TOOLS.items() for name in names.split()}
_SHELL = {
    ActionType.READ: "cat head tail less more nl bat view",
    ActionType.SEARCH: "grep rg ag ack egrep fgrep",
    ActionType.LIST: "ls find fd tree",
    ActionType.EXTERNAL: "curl wget gh glab lynx w3m http https",
}
_COMMANDS = {name: action for action, names in _SHELL.items() for name in names.split()}
_WRITE_VERBS = frozenset(
    "write edit create replace insert delete remove rename move patch modify append save overwrite apply".split()
)
_READ_VERBS = frozenset({"read", "view", "open", "cat"})
_AGENTS = frozenset({"agent", "task", "subagent", "delegate", "teammate"})
_PATH_WORDS = frozenset({"file", "path", "filename", "filepath", "uri", "files", "paths", "notebook"})
_NO_PATH_WORDS = frozenset(
    "text content contents pattern glob type encoding size count limit regex mode description include exclude "
    "id".split()
)
_FOLDER_WORDS = frozenset({"dir", "directory", "folder", "cwd", "root"})
_FOLDER_KEYS = ("workdir", "cwd", "working_directory", "workingDirectory", "working_dir")
_REMOTE_KEYS = frozenset({"owner", "repo", "repository", "bucket"})  # a file somewhere else
_SUBJECT_KEYS = ("command", "cmd", "pattern", "query", "url", "regex", "search_term", "code", "input", "skill")
_NOTHING = frozenset({"cd", "export", "set", "source", ".", "pushd", "popd", "unset", "ulimit", "trap"})
_LOOKING = frozenset({"echo", "printf", "mkdir", "true", "wc", "test", "[", "sleep", "chmod", "sort", "uniq", "diff"})
_EDITING = frozenset({"cat", "echo", "printf", "tee", "sed", "gsed", "perl", "cp", "mv", "rm", "touch", "ln",
                      "apply_patch", "applypatch", "patch", "Set-Content", "Add-Content", "Out-File"})  # fmt: skip
_ASKING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "[", "pgrep", "which", "type"})
_GIT_ASKING = frozenset({"--quiet", "--exit-code", "grep", "check-ignore"})
_GIT_EDITING = frozenset({"mv", "rm", "apply", "checkout", "restore"})
_GIT_LOOKING = frozenset({"diff", "status", "log", "show"})
_NAMED = 2  # words that name a command
_RUNNING = frozenset({"run", "exec", "-m"})  # the next word says what
_VIEWING = frozenset({"view", "cat", "read"})
_LOCAL_SERVERS = ("mcp__ide__", "mcp__recollect", "mcp__plugin_recollect")  # nothing from outside comes through these


def read_tool_call(
    tool: str,
    arguments: object,
    root: str | None,
    *,
    folder: str = "",
    call_id: str = "",
    disk: str = "",
    id: str = "",
    session: str = "",
    step: int = 0,
    at: float | None = None,
    agent: str = "",
) -> ToolCall:
    """Read a call of `tool`; arguments of any shape are accepted, what cannot be understood is OTHER.

    `folder` is where the host's shell stands, where it tells.
    """
    given: Mapping[str, object] = arguments if isinstance(arguments, Mapping) else {"input": arguments}
    action, subject = _action(tool, given), _subject(given)
    paths: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    inside, begins, planned = "", "", 0
    patched = _patched(given, action, root)
    if patched:
        action, paths, changed, subject = ActionType.EDIT, patched[:_PATHS_KEPT], patched, ""
    elif action is ActionType.RUN:
        line, place = _unwrapped(subject, _folder(given) or folder)
        if line:
            action, paths, changed, subject = _read_command(line, root, place, tool)
            begins = relative_path(place, root) or "" if place else ""
    elif action is ActionType.PLAN:
        subject, planned = "", _planned(given)
    elif action is ActionType.READ:
        paths = _paths(given, root)
    elif action is ActionType.EDIT:
        paths = _paths(given, root)
        changed = paths
    elif action in (ActionType.SEARCH, ActionType.LIST):
        inside = next(iter(_paths(given, root, folders=True)), "")
    elif action is ActionType.EXTERNAL and _name_words(tool) & _WRITE_VERBS and not _REMOTE_KEYS & given.keys():
        changed = _paths(given, root)
    return ToolCall(
        tool=tool[:80] or "?",
        action=action,
        paths=paths,
        changed=changed,
        folder=begins,
        subject=subject[:MAX_SUBJECT_CHARS],
        inside=inside,
        planned=planned,
        disk=disk,
        call_id=call_id,
        id=id,
        session=session,
        step=step,
        at=at,
        agent=agent,
    )


@lru_cache(maxsize=256)
def command_words(command: str) -> tuple[str, ...]:
    """The words of the first command that does something: directory changes and settings before it are skipped."""
    for one in read_line(command):
        if one.words and one.words[0] not in _NOTHING:
            return tuple(one.words)
    return ()


@lru_cache(maxsize=256)
def command_name(command: str) -> str:
    """What a command is called: its program with the words that choose what it does, without flags, files or values."""
    named = command_words(command)
    if not named:
        return ""
    words = [named[0].rsplit("/", 1)[-1]]
    for word in named[1:]:
        if len(words) >= (_NAMED + 1 if words[-1] in _RUNNING else _NAMED) or not _chooses(word):
            break
        words.append(word)
    return " ".join(words)[:80]


def all_commands(line: str) -> list[list[str]]:
    """Every command of a shell line as its words, without the settings before it."""
    return [one.words for one in read_line(line) if one.words]


def describe_failure(call: ToolCall) -> str:
    """A failure of which nothing may be repeated, or that said nothing, in our words."""
    name = command_name(call.subject) if is_shell(call.tool) and call.action is not ActionType.SEARCH else ""
    return f"{name or call.tool} ended with an error"


def is_shell(tool: str) -> bool:
    """Does the tool run commands?"""
    return _ACTIONS.get(tool.strip().lower().rsplit(".", 1)[-1]) is ActionType.RUN


def _chooses(word: str) -> bool:
    return word == "-m" or (word[:1].isalpha() and not any(sign in word for sign in "/.=*$(){}<>~ \n"))


def _action(tool: str, given: Mapping[str, object]) -> ActionType:
    name = tool.strip().lower().rsplit(".", 1)[-1]
    if name.startswith("mcp__"):
        return ActionType.OTHER if name.startswith(_LOCAL_SERVERS) else ActionType.EXTERNAL
    action = _ACTIONS.get(name)
    if action is None:
        return _guess_action(tool, given)
    if action is ActionType.EDIT and str(given.get("command")) in _VIEWING:
        return ActionType.READ
    return action


def _guess_action(tool: str, given: Mapping[str, object]) -> ActionType:
    """What a tool nobody has told of does: its name has the verb, its arguments name a file."""
    words = _name_words(tool)
    verb = ActionType.EDIT if words & _WRITE_VERBS else ActionType.READ if words & _READ_VERBS else ActionType.OTHER
    if verb is ActionType.OTHER or not words.isdisjoint(_AGENTS) or not next(_path_values(given, 0), ""):
        return ActionType.OTHER
    return ActionType.READ if str(given.get("command")) in _VIEWING else verb


@lru_cache(maxsize=256)
def _name_words(name: str) -> frozenset[str]:
    """The words of a name, however they are put together: `writeFile`, `write_file` and `mcp__fs__write-file`."""
    spread = "".join(f" {sign}" if sign.isupper() and not before.isupper() else sign
                     for before, sign in zip(f" {name}", name[:120], strict=False))  # fmt: skip
    return frozenset("".join(sign if sign.isalnum() else " " for sign in spread).lower().split())


def _subject(given: Mapping[str, object]) -> str:
    for key in _SUBJECT_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            words = value[2:] if value[0] in ("bash", "sh", "zsh") and len(value) > 2 else value
            return " ".join(words)
    return ""


def _paths(given: Mapping[str, object], root: str | None, *, folders: bool = False) -> tuple[str, ...]:
    return _known(list(_path_values(given, 0, folders=folders)), root)


def _path_values(given: Mapping[str, object], depth: int, *, folders: bool = False) -> Iterator[str]:
    """The values of arguments that name files by the words of their keys, those in lists and lists of edits too."""
    for key, value in list(given.items())[:_ARGUMENTS]:
        words = _name_words(key) if isinstance(key, str) else frozenset()
        names = not words.isdisjoint(_PATH_WORDS) and words.isdisjoint(_NO_PATH_WORDS)
        if not folders and names:
            names = words.isdisjoint(_FOLDER_WORDS)
        if isinstance(value, str):
            if names or (folders and not words.isdisjoint(_FOLDER_WORDS)):
                yield _plain_path(value)
        elif isinstance(value, list):
            for one in value[:_ARGUMENTS]:
                if isinstance(one, Mapping) and depth < _NESTED:
                    yield from _path_values(one, depth + 1, folders=folders)
                elif names and isinstance(one, str):
                    yield _plain_path(one)


def _plain_path(value: str) -> str:
    plain = value.removeprefix("file://")
    base, _, lines = plain.rpartition(":")
    return base if base and lines[:1].isdigit() and lines.replace("-", "").isdigit() else plain


def _known(named: list[str], root: str | None, limit: int = _PATHS_KEPT) -> tuple[str, ...]:
    found = (relative_path(name, root) for name in named)
    return tuple(dict.fromkeys(path for path in found if path is not None))[:limit]


def _patched(given: Mapping[str, object], action: ActionType, root: str | None) -> tuple[str, ...]:
    """The files of a patch that a call hands over, whatever its argument is called."""
    for value in list(given.values())[:_ARGUMENTS]:
        if not isinstance(value, str):
            continue
        if "*** " in value and (action is not ActionType.RUN or _is_wrapped(value)):
            found = _known(list(patch_names(value)), root, _CHANGED_KEPT)
            if found and (action is ActionType.EDIT or BEGIN_PATCH in value):
                return found
        if action is ActionType.EDIT and value.startswith(("--- ", "diff --git ")):
            found = _known(list(diff_names(value)), root, _CHANGED_KEPT)
            if found:
                return found
    return ()


def _folder(given: Mapping[str, object]) -> str:
    found = next((value for key in _FOLDER_KEYS if isinstance(value := given.get(key), str) and value), "")
    return "" if found == "." else found.replace("\\", "/")


def _is_wrapped(text: str) -> bool:
    """Is this a script that calls tools, and no shell line?"""
    return ("tools." in text or "ALL_TOOLS" in text) and ("await " in text or "text(" in text)


def _unwrapped(subject: str, folder: str) -> tuple[str, str]:
    """The shell line, and where it runs, of a script that hands one to a tool; any other subject as it is."""
    if not _is_wrapped(subject):
        return subject, folder
    commands = [_unescaped(found.group("text")) for found in _wrapped_command().finditer(subject[:_SCRIPT_READ])]
    place = _wrapped_folder().search(subject[:_SCRIPT_READ])
    inside = place.group("text") if place else folder
    return "\n".join(commands), "" if inside == "." else inside


def _unescaped(text: str) -> str:
    for written, meant in (("\\n", "\n"), ("\\t", "\t"), ('\\"', '"'), ("\\'", "'"), ("\\`", "`")):
        text = text.replace(written, meant)
    return text.replace("\\\\", "\\")


@lru_cache(maxsize=1)
def _wrapped_command() -> Pattern[str]:
    import re

    return re.compile(
        r"\b(?:cmd|command)[\"']?\s*:\s*(?P<quote>[\"'`])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)", re.S
    )


@lru_cache(maxsize=1)
def _wrapped_folder() -> Pattern[str]:
    import re

    return re.compile(r"\bworkdir[\"']?\s*:\s*[\"'`](?P<text>[^\"'`]{0,300})")


def _read_command(
    line: str, root: str | None, folder: str, tool: str
) -> tuple[ActionType, tuple[str, ...], tuple[str, ...], str]:
    """A shell line as the action it is, with its files, those it changes, and its subject."""
    every = read_line(line, folder=folder, powershell=tool.casefold() in ("powershell", "pwsh"))
    kept = _on_one_line(line, [one.document for one in every if one.document])
    commands = [one for one in every if not one.words or one.words[0] not in _NOTHING]
    if not commands:
        return ActionType.RUN, (), (), kept
    changes = [command_changes(one) for one in commands]
    changed = _known([path for found in changes for path in found], root, _CHANGED_KEPT)
    first = commands[0]
    action = _shell_action(first)
    if changed:
        roles = {_role(one, found) for one, found in zip(commands, changes, strict=True)}
        action = ActionType.EDIT if "edit" in roles and "run" not in roles else ActionType.RUN
        if action is ActionType.EDIT:
            return action, changed[:_PATHS_KEPT], changed, kept
    if action is ActionType.EDIT:
        action = ActionType.RUN  # it changes nothing of the project
    if action is ActionType.READ:
        reading = [one for one in commands if _shell_action(one) is ActionType.READ]
        named = [one.place(word) for one in reading for word in one.words[1:] if _names_a_file(word)]
        return action, _known([name for name in named if name], root), changed, kept
    if action is ActionType.SEARCH:
        return action, (), changed, next((word for word in first.words[1:] if not word.startswith("-")), "")
    return action, (), changed, "" if first.name in ("ls", "tree") and action is ActionType.LIST else kept


def _on_one_line(line: str, documents: list[str]) -> str:
    """A shell line without here-documents and line breaks: commands on lines of their own stay so."""
    for document in documents:
        line = line.replace(document, "", 1)
    line = line[:MAX_SUBJECT_CHARS]
    if "\n" in line:
        line = "; ".join(part for part in line.replace("\\\n", " ").split("\n") if part.strip())
    return " ".join(line.split())


def _shell_action(command: ShellCommand) -> ActionType:
    name = command.name
    if name == "sed":
        return ActionType.READ if "-n" in command.words else ActionType.RUN
    return _COMMANDS.get(name, ActionType.RUN)


def _role(command: ShellCommand, changes: list[str]) -> str:
    """What a command is on a line that changes files: it edits, it only looks, or it runs something."""
    name, verb = command.name, next((word for word in command.words[1:] if not word.startswith("-")), "")
    if changes and (not command.words or name in _EDITING or (name == "git" and verb in _GIT_EDITING)):
        return "edit"
    if name in _LOOKING or name in _COMMANDS or name == "sed" or (name == "git" and verb in _GIT_LOOKING):
        return "look"
    return "run"


def _names_a_file(word: str) -> bool:
    if word.startswith(("-", "/dev/")) or any(sign in word for sign in " ,*$(){}<>\n"):
        return False
    return is_file_name(word) or ("/" in word and not word[0].isdigit() and not word.startswith("s/"))


def _planned(given: Mapping[str, object]) -> int:
    for key in ("todos", "plan", "task_list", "items"):
        value = given.get(key)
        if isinstance(value, list):
            return len(value)
    return 1 if "subject" in given or "description" in given else 0


_REJECTED = ("doesn't want to proceed with this tool use", "doesn't want to take this action", "denied by user",
             "user rejected", "rejected by user", "request interrupted by user")  # fmt: skip
_DROPPED = "Sibling tool call errored"  # a call dropped because another failed has not failed itself


def judge_answer(text: str, *, error: bool) -> tuple[bool, bool]:
    """Did a call fail that its host says failed, and was that because a person said no?"""
    failed = error and _DROPPED not in text[:200]
    return failed, failed and any(sign in text[:400].casefold().replace("’", "'") for sign in _REJECTED)


def answers_no(line: str, text: str) -> bool:
    """Is a failed shell line only a question that was answered with no? `grep` that finds nothing exits with 1."""
    if "1" not in text[:20] and text.strip():
        return False
    first, _, rest = text.strip().partition("\n")
    if first.rstrip(" .").casefold() not in ("", "exit code 1", "exit code: 1", "process exited with code 1"):
        return False
    commands = read_line(line)
    last = commands[-1] if commands else None
    if last is None or any(sign in rest for sign in (": No such file", ": not found", "rror:", "usage:")):
        return False
    asks = last.name in _ASKING or (last.name == "git" and not _GIT_ASKING.isdisjoint(last.words))
    return asks and (last.name not in ("test", "[") or not rest)


def clip_middle(text: str, head: int, tail: int) -> str:
    """The text, or its two ends when it is longer than both together."""
    return text if len(text) <= head + tail else f"{text[:head]}\n…\n{text[-tail:]}"


def relative_path(path: str, root: str | None) -> str | None:
    """`path` inside the project, or None when it lies outside or is no path at all."""
    plain = path.strip().replace("\\", "/")
    if not plain or len(plain) > 4 * MAX_PATH_CHARS or "\n" in plain or "\0" in plain or "://" in plain:
        return None
    base = (root or "").strip().replace("\\", "/").rstrip("/")
    if base and (plain == base or plain.startswith(base + "/")):
        plain = plain[len(base) + 1 :]
    elif _absolute(plain) and base:
        return None
    clean = posixpath.normpath(plain) if plain else "."
    if clean == "." or clean == ".." or clean.startswith("../") or len(clean) > MAX_PATH_CHARS:
        return None
    return clean


def _absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or (len(path) > 2 and path[1] == ":" and path[2] == "/")
