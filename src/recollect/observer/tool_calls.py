"""Reading what a host tells of a tool call: what it does, to which files, and how it was answered.

Hosts name their tools differently and some do everything through a shell, so a plain shell command is read as the
action it is. Pure: the disk is never asked. A hook loads it, so it stays light.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import lru_cache

from recollect.observer.events import ActionType, ToolCall

MAX_PATH_CHARS = 300  # anything longer is not the path of a project file
MAX_SUBJECT_CHARS = 400  # of a command, pattern or address that are kept
TEXT_KEPT = 8000  # characters of what was said; the lesson of a long text stands at its ends
RESULT_HEAD, RESULT_TAIL = 3000, 1000  # characters that are kept: imports and commands lead, failures end it
_COMMAND_READ = 2000  # characters of a command line that are looked at
_PATCH_LINES = 5000  # lines of a patch that are looked at
_PATHS_KEPT = 24  # files of one call that are kept

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
_PATH_KEYS = ("file_path", "filePath", "path", "notebook_path", "filename", "file", "target_file", "file_name")
_SUBJECT_KEYS = ("command", "cmd", "pattern", "query", "url", "regex", "search_term", "code", "input", "skill")
_OLD_KEYS = ("old_string", "old_str", "oldString", "old_text")
_FEW = 8  # lines up to which a text is short
_BEFORE = frozenset({"sudo", "time", "env", "command"})
_NOTHING = frozenset({"cd", "export", "set", "source", "{", "("})
_NAMED = 2  # words that name a command
_RUNNING = frozenset({"run", "exec", "-m"})  # the next word says what
_VIEWING = frozenset({"view", "cat", "read"})
_LOCAL_SERVERS = ("mcp__ide__", "mcp__recollect", "mcp__plugin_recollect")  # nothing from outside comes through these


def read_tool_call(
    tool: str,
    arguments: object,
    root: str | None,
    *,
    call_id: str = "",
    disk: str = "",
    id: str = "",
    session: str = "",
    step: int = 0,
    at: float | None = None,
    agent: str = "",
) -> ToolCall:
    """Read a call of `tool`; arguments of any shape are accepted, what cannot be understood is OTHER."""
    given: Mapping[str, object] = arguments if isinstance(arguments, Mapping) else {"input": arguments}
    action, subject = _action(tool, given), _subject(given)
    paths: tuple[str, ...] = ()
    inside, shape, planned = "", "", 0
    patched = _known(list(_patch_names(subject)), root) if "*** " in subject else ()
    if patched:
        action, paths, subject = ActionType.EDIT, patched, ""
    elif action is ActionType.RUN:
        action, paths, subject = _read_command(subject, root)
    elif action is ActionType.PLAN:
        subject, planned = "", _planned(given)
    elif action in (ActionType.READ, ActionType.EDIT):
        paths, shape = _paths(given, root), _shape(given)
    elif action in (ActionType.SEARCH, ActionType.LIST):
        inside = next(iter(_paths(given, root)), "")
    return ToolCall(
        tool=tool[:80] or "?",
        action=action,
        paths=paths,
        subject=subject[:MAX_SUBJECT_CHARS],
        inside=inside,
        shape=shape,
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
    for words in _commands(command[:_COMMAND_READ]):
        while words and (("=" in words[0] and not words[0].startswith("-")) or words[0] in _BEFORE):
            words = words[1:]
        if words and words[0] not in _NOTHING and not words[0].startswith("#"):
            return tuple(words)
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
    found = []
    for words in _commands(line[:_COMMAND_READ]):
        while words and (("=" in words[0] and not words[0].startswith("-")) or words[0] in _BEFORE):
            words = words[1:]
        if words:
            found.append(words)
    return found


def describe_failure(call: ToolCall) -> str:
    """A failure of which nothing may be repeated, or that said nothing, in our words."""
    name = command_name(call.subject) if is_shell(call.tool) and call.action is not ActionType.SEARCH else ""
    return f"{name or call.tool} ended with an error"


def is_shell(tool: str) -> bool:
    """Does the tool run commands?"""
    return _ACTIONS.get(tool.strip().lower().rsplit(".", 1)[-1]) is ActionType.RUN


def _chooses(word: str) -> bool:
    return word == "-m" or (word[:1].isalpha() and not any(sign in word for sign in "/.=*$(){}<>~ \n"))


def _commands(line: str) -> Iterator[list[str]]:
    """The commands of a shell line, each as words; quotes hold words together and need not be closed."""
    words: list[str] = []
    current, quote = "", ""
    for sign in line:
        if quote:
            quote, current = ("", current) if sign == quote else (quote, current + sign)
        elif sign in "'\"":
            quote = sign
        elif sign in " \t":
            words, current = ([*words, current] if current else words), ""
        elif sign in "&;|\n":
            yield [*words, current] if current else words
            words, current = [], ""
        else:
            current += sign
    yield [*words, current] if current else words


def _action(tool: str, given: Mapping[str, object]) -> ActionType:
    name = tool.strip().lower().rsplit(".", 1)[-1]
    if name.startswith("mcp__"):
        return ActionType.OTHER if name.startswith(_LOCAL_SERVERS) else ActionType.EXTERNAL
    action = _ACTIONS.get(name, ActionType.OTHER)
    if action is ActionType.EDIT and str(given.get("command")) in _VIEWING:
        return ActionType.READ
    return action


def _subject(given: Mapping[str, object]) -> str:
    for key in _SUBJECT_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            words = value[2:] if value[0] in ("bash", "sh", "zsh") and len(value) > 2 else value
            return " ".join(words)
    return ""


def _shape(given: Mapping[str, object]) -> str:
    """How the text an edit replaces begins and how long it is; nothing when it replaces none."""
    old = next((value for key in _OLD_KEYS if isinstance(value := given.get(key), str) and value), "")
    if not old:
        return ""
    lines = old.count("\n", 0, _COMMAND_READ) + 1
    start = "tab" if old[0] == "\t" else "space" if old[0] == " " else "flush"
    return f"{start} {'line' if lines == 1 else 'few' if lines <= _FEW else 'many'}"


def _paths(given: Mapping[str, object], root: str | None) -> tuple[str, ...]:
    named = [value for key in _PATH_KEYS if isinstance(value := given.get(key), str)]
    several = given.get("paths")
    if isinstance(several, list):
        named += [value for value in several[:_PATHS_KEPT] if isinstance(value, str)]
    return _known(named, root)


def _known(named: list[str], root: str | None) -> tuple[str, ...]:
    found = (relative_path(name, root) for name in named)
    return tuple(dict.fromkeys(path for path in found if path is not None))[:_PATHS_KEPT]


def _patch_names(patch: str) -> Iterator[str]:
    for line in patch.split("\n", _PATCH_LINES)[:_PATCH_LINES]:
        for opening in ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "):
            if line.startswith(opening):
                yield line[len(opening) :]


def _read_command(command: str, root: str | None) -> tuple[ActionType, tuple[str, ...], str]:
    """A plain shell command as the action it is, with its files and its subject."""
    words = command_words(command)
    kept = " ".join(command[:MAX_SUBJECT_CHARS].split())
    if not words:
        return ActionType.RUN, (), kept
    name = words[0].rsplit("/", 1)[-1]
    action = _COMMANDS.get(name, ActionType.RUN)
    if name == "sed" and "-n" in words:
        action = ActionType.READ
    if name == "sed" and any(word.startswith("-i") for word in words):
        action = ActionType.EDIT
    if action in (ActionType.READ, ActionType.EDIT):
        return action, _known([word for word in words[1:] if _names_a_file(word)], root), kept
    if action is ActionType.SEARCH:
        return action, (), next((word for word in words[1:] if not word.startswith("-")), "")
    return action, (), "" if name in ("ls", "tree") else kept


def _names_a_file(word: str) -> bool:
    if word.startswith(("-", ">", "<", "2>", "/dev/")) or any(sign in word for sign in " ,*$(){}\n"):
        return False
    return "." in word.rsplit("/", 1)[-1].strip(".") or (
        "/" in word and not word[0].isdigit() and not word.startswith("s/")
    )


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
