"""What a tool call amounts to: reading, editing, searching, listing, running, planning, or reaching outside.

Hosts name their tools differently and some do everything through a shell, so a plain shell command is read as the
deed it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from recollect.observer.acts import Act
from recollect.observer.paths import relative

SUBJECT_KEPT = 400  # characters of a command, pattern or address that are kept
_COMMAND_READ = 2000  # characters of a command line that are looked at
_PATCH_LINES = 5000  # lines of a patch that are looked at
_PATHS_KEPT = 24  # files of one call that are kept

_TOOLS = {
    Act.READ: "read view read_file view_file open open_file cat notebookread view_image read_many_files",
    Act.EDIT: "edit write multiedit notebookedit create str_replace insert apply_patch patch write_file edit_file "
    "undo_edit replace delete str_replace_editor str_replace_based_edit_tool file_editor delete_file",
    Act.SEARCH: "grep search rg grep_search search_file_content search_file search_dir code_search find_file "
    "codebase_search",
    Act.LIST: "glob ls list list_dir list_directory find list_files",
    Act.RUN: "bash shell run_shell_command run exec exec_command execute_bash run_in_terminal run_command local_shell "
    "run_ipython execute_ipython_cell powershell",
    Act.PLAN: "todowrite taskcreate update_plan task_tracker update_todo write_todos",
    Act.EXTERNAL: "webfetch websearch web_fetch web_search web_search_call fetch fetch_webpage browse "
    "browse_interactive browse_url browser url_fetch google_search google_web_search github",
}
_ACTS = {name: act for act, names in _TOOLS.items() for name in names.split()}
_SHELL = {
    Act.READ: "cat head tail less more nl bat view",
    Act.SEARCH: "grep rg ag ack egrep fgrep",
    Act.LIST: "ls find fd tree",
    Act.EXTERNAL: "curl wget gh glab lynx w3m http https",
}
_COMMANDS = {name: act for act, names in _SHELL.items() for name in names.split()}
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


class Deed:
    """A tool call in the observer's words; `inside` is where a search looks, `shape` the look of what is edited.

    A plain class: a hook process has no time for dataclasses.
    """

    __slots__ = ("act", "inside", "paths", "planned", "shape", "subject")

    def __init__(
        self,
        act: Act,
        paths: tuple[str, ...] = (),
        subject: str = "",
        inside: str = "",
        shape: str = "",
        planned: int = 0,
    ) -> None:
        self.act = act
        self.paths = paths
        self.subject = subject
        self.inside = inside
        self.shape = shape
        self.planned = planned


def deed(tool: str, arguments: object, root: str | None) -> Deed:
    """Read a call of `tool`; arguments of any shape are accepted, what cannot be understood is OTHER."""
    given: Mapping[str, object] = arguments if isinstance(arguments, Mapping) else {"input": arguments}
    act = _act(tool, given)
    subject = _subject(given)
    patch = _patched(subject, root) if "*** " in subject else ()
    if patch:
        return Deed(Act.EDIT, patch, "")
    if act is Act.RUN:
        return _command(subject, root)
    if act is Act.PLAN:
        return Deed(act, planned=_planned(given))
    if act in (Act.READ, Act.EDIT):
        return Deed(act, _paths(given, root), subject[:SUBJECT_KEPT], shape=_shape(given))
    inside = next(iter(_paths(given, root)), "") if act in (Act.SEARCH, Act.LIST) else ""
    return Deed(act, (), subject[:SUBJECT_KEPT], inside)


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


def is_shell(tool: str) -> bool:
    """Does the tool run commands?"""
    return _ACTS.get(tool.strip().lower().rsplit(".", 1)[-1]) is Act.RUN


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


def _act(tool: str, given: Mapping[str, object]) -> Act:
    name = tool.strip().lower().rsplit(".", 1)[-1]
    if name.startswith("mcp__"):
        return Act.OTHER if name.startswith(_LOCAL_SERVERS) else Act.EXTERNAL
    act = _ACTS.get(name, Act.OTHER)
    if act is Act.EDIT and str(given.get("command")) in _VIEWING:
        return Act.READ
    return act


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
    found = (relative(name, root) for name in named)
    return tuple(dict.fromkeys(path for path in found if path is not None))[:_PATHS_KEPT]


def _patched(patch: str, root: str | None) -> tuple[str, ...]:
    return _known(list(_patch_names(patch)), root)


def _patch_names(patch: str) -> Iterator[str]:
    for line in patch.split("\n", _PATCH_LINES)[:_PATCH_LINES]:
        for opening in ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "):
            if line.startswith(opening):
                yield line[len(opening) :]


def _command(command: str, root: str | None) -> Deed:
    words = command_words(command)
    kept = " ".join(command[:SUBJECT_KEPT].split())
    if not words:
        return Deed(Act.RUN, (), kept)
    name = words[0].rsplit("/", 1)[-1]
    act = _COMMANDS.get(name, Act.RUN)
    if name == "sed" and "-n" in words:
        act = Act.READ
    if name == "sed" and any(word.startswith("-i") for word in words):
        act = Act.EDIT
    if act in (Act.READ, Act.EDIT):
        return Deed(act, _known([word for word in words[1:] if _names_a_file(word)], root), kept)
    if act is Act.SEARCH:
        return Deed(act, (), next((word for word in words[1:] if not word.startswith("-")), "")[:SUBJECT_KEPT])
    return Deed(act, (), "" if name in ("ls", "tree") else kept)


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
