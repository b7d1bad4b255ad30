"""A shell line as the commands it holds: words, the folder each runs in, what it writes, what is handed to it.

Not a shell: quotes, operators, subshells, `cd`, redirections, here-documents and plain variables are followed, the rest
stays as it is written. Linear and bounded. Pure, and light because a hook loads it.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache
from re import Pattern

LINE_READ = 16_000  # characters of a line that are looked at; here-documents and quoted texts are jumped over
_TOKENS = 1_500  # of a line; more are left out
_COMMANDS = 80  # of a line that are kept
_EXPANDED = 24  # words one word may become
_DEPTH = 3  # scripts inside scripts

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_PREFIXES = frozenset({"sudo", "time", "env", "command", "nohup", "nice", "exec", "builtin", "stdbuf", "xvfb-run"})
_KEYWORDS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "{", "!", "&"})
_CLOSERS = frozenset({"fi", "done", "esac", "}"})
_PLAIN_END = " \t\r\n'\"\\`$&;|()<>#"
UNKNOWN = "\0"  # a folder nobody can tell: what runs there names no file


class ShellCommand:
    """One command of a line: `words` without the settings before them, `folder` relative to where the line began."""

    __slots__ = ("document", "folder", "piped", "settings", "words", "writes")

    def __init__(self, words: list[str], folder: str, writes: list[str], document: str, piped: bool) -> None:
        self.words = words
        self.folder = folder
        self.writes = writes
        self.document = document
        self.piped = piped  # it reads what the command before it printed
        self.settings: list[str] = []

    @property
    def name(self) -> str:
        """What the program is called, without where it is."""
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""

    def place(self, path: str) -> str:
        """A path it names, as seen from where the line began; nothing where that cannot be told."""
        return join_folder(self.folder, path)


@lru_cache(maxsize=64)
def read_line(line: str, *, folder: str = "", powershell: bool = False, depth: int = 0) -> tuple[ShellCommand, ...]:
    """The commands of a line, in its order, those of scripts handed to a shell among them. Nobody changes them."""
    found: list[ShellCommand] = []
    for one in _Splitter(line[:LINE_READ], folder, powershell=powershell).commands():
        script = _inner_script(one) if depth < _DEPTH else ""
        found += read_line(script, folder=one.folder, depth=depth + 1) if script else (one,)
    return tuple(found[:_COMMANDS])


def join_folder(folder: str, path: str) -> str:
    """`path` seen from the folder that `folder` is seen from; nothing where either cannot be told."""
    if folder == UNKNOWN and not path.startswith(("/", "~")):
        return ""
    if not folder or path.startswith(("/", "~")) or path[1:3] in (":/", ":\\"):
        return path
    return posixpath.normpath(posixpath.join(folder, path))


def _inner_script(command: ShellCommand) -> str:
    """What a command hands to another shell."""
    words = command.words
    if command.name == "eval":
        return " ".join(words[1:])
    if command.name not in _SHELLS:
        return ""
    for place, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--"):
            if "c" in word:
                return words[place + 1] if place + 1 < len(words) else ""
        else:
            return ""
    return command.document


class _Splitter:
    """Reads one line once, from its start to its end."""

    def __init__(self, line: str, folder: str, *, powershell: bool) -> None:
        self.line = line
        self.folder = folder
        self.escape = "`" if powershell else "\\"
        self.found: list[ShellCommand] = []
        self.words: list[str] = []
        self.writes: list[str] = []
        self.word: str | None = None
        self.literal = False  # the word holds quoted text that is not to be looked into
        self.expect = ""  # what the next word is: a target, a delimiter
        self.waiting: list[tuple[str, bool, ShellCommand | None]] = []
        self.outer: list[str] = []
        self.pushed: list[str] = []
        self.known: dict[str, list[str]] = {}
        self.piped = False

    def commands(self) -> list[ShellCommand]:
        line, place, end, tokens = self.line, 0, len(self.line), 0
        while place < end and tokens < _TOKENS and len(self.found) < _COMMANDS:
            tokens += 1
            sign = line[place]
            if sign not in _PLAIN_END:
                last = _plain_end().search(line, place)
                stop = last.start() if last else end
                self.word = (self.word or "") + line[place:stop]
                place = stop
            elif sign in " \t\r":
                self._end_word()
                place += 1
            else:
                place = self._special(sign, place)
        self._end_command()
        return self.found

    def _special(self, sign: str, place: int) -> int:
        line = self.line
        if sign == self.escape:
            if line[place + 1 : place + 2] not in ("\n", ""):
                self.word = (self.word or "") + line[place + 1]
            return place + 2
        if sign in "'\"":
            return self._quoted(sign, place)
        if sign == "$" or sign == "`":
            return self._substituted(sign, place)
        if sign == "#" and self.word is None:
            stop = line.find("\n", place)
            return stop if stop >= 0 else len(line)
        if sign in "\n;&|()":
            return self._operator(sign, place)
        if sign in "<>":
            return self._redirected(sign, place)
        self.word = (self.word or "") + sign
        return place + 1

    def _quoted(self, sign: str, place: int) -> int:
        line = self.line
        if sign == "'":
            stop = line.find("'", place + 1)
            stop = stop if stop >= 0 else len(line)
            self.word = (self.word or "") + line[place + 1 : stop]
            self.literal = True
            return stop + 1
        stop = _closing_quote(line, place + 1, 0)
        inner = line[place + 1 : stop]
        self.word = (self.word or "") + (inner.replace('\\"', '"').replace("\\$", "$") if "\\" in inner else inner)
        return stop + 1

    def _substituted(self, sign: str, place: int) -> int:
        """`$(…)` and backquotes stay in the word as they are written."""
        line = self.line
        if sign == "`":
            stop = line.find("`", place + 1)
            stop = stop + 1 if stop >= 0 else len(line)
        elif line.startswith("$(", place):
            stop = _closing_bracket(line, place + 2, 0)
        else:
            stop = place + 1
        self.word = (self.word or "") + line[place:stop]
        return stop

    def _operator(self, sign: str, place: int) -> int:
        line = self.line
        if sign == "&" and line[place + 1 : place + 2] == ">":
            self._end_word()
            self.expect = "write"
            return place + (3 if line.startswith("&>>", place) else 2)
        if sign == "(":
            if self.words or self.word:  # an array or a function, no subshell
                self._end_word()
                return place + 1
            self.outer.append(self.folder)
            return place + 1
        self._end_command()
        self.piped = sign == "|" and line[place + 1 : place + 2] != "|"
        if sign == ")" and self.outer:
            self.folder = self.outer.pop()
        if sign == "\n" and self.waiting:
            return self._documents(place + 1)
        return place + 1

    def _redirected(self, sign: str, place: int) -> int:
        line = self.line
        if self.word is not None and self.word.isdigit():
            self.word = None  # the number of a stream
        self._end_word()
        if line[place + 1 : place + 2] == "(":  # a command in a file's place
            return _closing_bracket(line, place + 2, 0)
        if sign == ">":
            if line.startswith(">&", place):
                stop = place + 2
                while stop < len(line) and (line[stop].isdigit() or line[stop] == "-"):
                    stop += 1
                self.expect = "" if stop > place + 2 else "write"
                return stop
            self.expect = "write"
            return place + (2 if line[place + 1 : place + 2] in (">", "|") else 1)
        if line.startswith("<<<", place):
            self.expect = "string"
            return place + 3
        if line.startswith("<<", place):
            self.expect = "tabbed" if line.startswith("<<-", place) else "document"
            return place + (3 if self.expect == "tabbed" else 2)
        self.expect = "read"
        return place + 1

    def _documents(self, place: int) -> int:
        """The here-documents that begin after a line's end."""
        line = self.line
        for delimiter, tabbed, owner in self.waiting:
            stop, after = _document_end(line, place, delimiter, tabbed=tabbed)
            if owner is not None:
                owner.document = line[place:stop]
            place = after
        self.waiting = []
        return place

    def _end_word(self) -> None:
        word, literal = self.word, self.literal
        if word is None:
            return
        self.word, self.literal = None, False
        expect, self.expect = self.expect, ""
        if expect in ("document", "tabbed"):
            self.waiting.append((word, expect == "tabbed", None))
        elif expect == "write":
            self.writes += self._expanded(word, literal=literal)
        elif not expect:
            self.words += self._expanded(word, literal=literal)

    def _expanded(self, word: str, *, literal: bool) -> list[str]:
        several = [word]
        if "$" in word and self.known and not literal:
            for name, values in self.known.items():
                for spelled in (f"${{{name}}}", f"${name}"):
                    if spelled in word:
                        several = [one.replace(spelled, value) for one in several for value in values][:_EXPANDED]
        if "{" in word and "," in word and not literal:
            several = [made for one in several for made in _braces(one)][:_EXPANDED]
        return several

    def _end_command(self) -> None:
        self._end_word()
        self.expect = ""
        words, writes = self.words, self.writes
        self.words, self.writes = [], []
        piped, self.piped = self.piped, False
        settings, words = _strip(words)
        if words and words[0] == "for" and len(words) > 3 and words[2] == "in":
            self.known[words[1]] = words[3 : 3 + _EXPANDED]
            words = []
        if not words:
            for setting in settings:
                name, _, value = setting.partition("=")
                self.known[name] = [value]
            settings = []
        if not words and not writes:
            return
        command = ShellCommand(words, self.folder, [join_folder(self.folder, one) for one in writes], "", piped)
        command.settings = settings
        self.waiting = [(mark, tabbed, owner or command) for mark, tabbed, owner in self.waiting]
        self.found.append(command)
        self._moved(words)

    def _moved(self, words: list[str]) -> None:
        if not words or words[0] not in ("cd", "pushd", "popd", "Set-Location", "sl", "chdir"):
            return
        if words[0] == "popd":
            self.folder = self.pushed.pop() if self.pushed else UNKNOWN
            return
        if words[0] == "pushd":
            self.pushed.append(self.folder)
        target = next((word for word in words[1:] if not word.startswith("-")), "")
        if "rev-parse --show-toplevel" in target:
            self.folder = ""
        elif not target or "$" in target or "`" in target or target == "-":
            self.folder = UNKNOWN
        else:
            self.folder = join_folder(self.folder, target.replace("\\", "/")) or UNKNOWN
            self.folder = "" if self.folder == "." else self.folder


def _strip(words: list[str]) -> tuple[list[str], list[str]]:
    """The settings before a command, and its words without them and without what only runs it."""
    settings: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        name = word.partition("=")[0]
        if name != word and name.isidentifier():
            settings.append(word)
        elif word in _PREFIXES:
            while place + 1 < len(words) and words[place + 1].startswith("-"):
                place += 1
        elif word == "timeout" or word == "gtimeout":
            place += 1
            while place < len(words) and words[place].startswith("-"):
                place += 1
        elif word not in _KEYWORDS and word not in _CLOSERS and word not in ("export", "local", "declare"):
            break
        place += 1
    return settings, words[place:]


def _braces(word: str) -> list[str]:
    opened, closed = word.find("{"), word.find("}")
    if not 0 <= opened < closed or "," not in word[opened:closed] or word[opened - 1 : opened] == "$":
        return [word]
    parts = word[opened + 1 : closed].split(",")
    return [f"{word[:opened]}{part}{word[closed + 1 :]}" for part in parts[:_EXPANDED]]


def _closing_quote(line: str, place: int, depth: int) -> int:
    """Where a double quote ends: escaped signs and `$(…)` inside are passed over."""
    end = len(line)
    while place < end:
        found = _inside_quotes().search(line, place)
        if found is None:
            return end
        place = found.start()
        if line[place] == '"':
            return place
        deeper = line[place] == "$" and depth < _DEPTH
        place = _closing_bracket(line, place + 2, depth + 1) if deeper else place + 2
    return end


def _closing_bracket(line: str, place: int, depth: int) -> int:
    """The place after the bracket that closes `$(`: quotes, brackets and here-documents inside are passed over."""
    end, opened = len(line), 1
    while place < end:
        found = _inside_brackets().search(line, place)
        if found is None:
            return end
        sign, place = found.group(), found.end()
        if sign == "\\":
            place += 1
        elif sign == "'":
            stop = line.find("'", place)
            place = stop + 1 if stop >= 0 else end
        elif sign == '"':
            place = _closing_quote(line, place, depth) + 1
        elif sign == "(":
            opened += 1
        elif sign == ")":
            opened -= 1
            if not opened:
                return place
        elif found.group("mark"):
            line_end = line.find("\n", place)
            if line_end < 0:
                return end
            place = _document_end(line, line_end + 1, found.group("mark"), tabbed=True)[1]
    return end


def _document_end(line: str, place: int, delimiter: str, *, tabbed: bool) -> tuple[int, int]:
    """Where a here-document ends, and where the line goes on."""
    looked = place
    while True:
        found = line.find(delimiter, looked)
        if found < 0:
            return len(line), len(line)
        start = line.rfind("\n", place, found) + 1 or place
        before = line[start:found]
        after = found + len(delimiter)
        if (not before or (tabbed and not before.strip())) and line[after : after + 1] in ("", "\n", "\r", ")"):
            return start, after
        looked = after


@lru_cache(maxsize=1)
def _plain_end() -> Pattern[str]:
    import re

    return re.compile(r"[\s'\"\\`$&;|()<>#]")


@lru_cache(maxsize=1)
def _inside_quotes() -> Pattern[str]:
    import re

    return re.compile(r"\\|\"|\$\(")


@lru_cache(maxsize=1)
def _inside_brackets() -> Pattern[str]:
    import re

    return re.compile(r"\\|'|\"|\(|\)|<<-?\s*['\"]?(?P<mark>\w+)['\"]?")
