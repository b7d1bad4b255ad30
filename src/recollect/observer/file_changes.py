"""Which files a command, a script or a patch changes, as far as its text tells. The disk is never asked.

Names count only where the command writes: a file that is merely mentioned is not changed. Light: a hook loads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from re import Pattern

from recollect.observer.shell import ShellCommand, join_folder

_PATCH_LINES = 5000  # lines of a patch that are looked at
_SCRIPT_READ = 4_000  # characters of a script that are looked at: what it opens stands first
_OPENINGS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
BEGIN_PATCH = "*** Begin Patch"

_EVERY_NAME = frozenset({"touch", "truncate", "unlink", "dos2unix", "unix2dos"})  # all they name is changed
_SOURCES_TOO = frozenset({"mv", "Move-Item", "Rename-Item"})
_COPIES = frozenset({"cp", "ln", "install", "Copy-Item"})
_POWERSHELL_WRITERS = frozenset({"Remove-Item", "Set-Content", "Add-Content", "Out-File", "New-Item", "Clear-Content",
                                "Tee-Object"})  # fmt: skip
_WRITING = frozenset({"-w", "--write", "--fix", "-i", "--in-place", "--inplace", "--apply", "--apply-unsafe",
                      "--fix-unsafe", "-a", "-A", "--autocorrect", "--overwrite"})  # fmt: skip
_FORMATTERS = frozenset(
    "gofmt gofumpt goimports gci shfmt prettier biome eslint oxlint stylelint markdownlint markdownlint-cli2 ruff "
    "clang-format yapf autopep8 rubocop ktlint swiftformat php-cs-fixer dprint stylua taplo standard".split()
)
_ALWAYS_FORMAT = frozenset({"black", "isort", "rustfmt", "stylua", "swiftformat", "gersemi"})
_ONLY_LOOKING = frozenset({"--check", "--diff", "-c", "-l", "--list-different", "-n", "--dry-run"})
_RUNNERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "mise", "poetry", "uv", "pnpm", "yarn", "bun", "npm",
                      "bundle", "hatch", "pdm", "rye", "direnv", "nix", "rtk"})  # fmt: skip
_RUNNING = frozenset({"run", "exec", "x", "dlx", "--", "tool", "develop", "-c"})
_INTERPRETERS = ("python", "node", "bun", "deno", "ruby", "perl", "tsx")
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_COMMIT_VALUES = frozenset({"-m", "-F", "-C", "-c", "--message", "--file", "--author", "--date", "--trailer", "-t"})


def command_changes(command: ShellCommand) -> list[str]:
    """The files a command changes, as seen from where its line began; names of folders may be among them."""
    words = bare_words(command.words)
    named = [name for name in command.writes if is_file_target(name)]
    if words:
        named += [place for name in _named(command, words) if (place := command.place(name))]
    return named


def bare_words(words: Sequence[str]) -> list[str]:
    """The words of a command without a runner before them: `npx prettier` and `uv run ruff` are `prettier`, `ruff`."""
    rest = list(words)
    while len(rest) > 1 and rest[0] in _RUNNERS:
        if rest[0] in ("npx", "bunx", "pnpx", "uvx", "rtk"):
            rest = rest[1:]
        elif rest[1] in _RUNNING:
            rest = rest[2:]
        else:
            break
        while rest and (rest[0] in ("--", "run") or (rest[0].startswith("-") and len(rest) > 1)):
            rest = rest[1:]
    if len(rest) > 2 and rest[1] == "-m" and rest[0].rsplit("/", 1)[-1].startswith("python"):
        rest = rest[2:]
    return rest


def _named(command: ShellCommand, words: list[str]) -> list[str]:
    name = words[0].rsplit("/", 1)[-1]
    if name == "git":
        return _git(command, words)
    if name in ("sed", "gsed", "perl"):
        return _in_place(name, words)
    if name == "tee":
        return [word for word in words[1:] if not word.startswith("-") and is_file_target(word)]
    if name in _EVERY_NAME or name in ("rm", "del"):
        return _files(words[1:])
    if name in _SOURCES_TOO or name in _COPIES:
        return _moved([word for word in words[1:] if not word.startswith("-")], sources=name in _SOURCES_TOO)
    if name in _POWERSHELL_WRITERS:
        return _powershell(words)
    if name == "apply_patch" or name == "applypatch":
        return [*patch_names("\n".join([*words[1:], command.document])), *diff_names(command.document)]
    if name == "patch":
        return [*_files(words[1:2]), *diff_names(command.document)]
    if _formats(name, words):
        return _files(words[1:])
    if name.startswith(_INTERPRETERS):
        return list(script_changes(_script(command, words)))
    if name in ("curl", "wget"):
        flag = "-o" if name == "curl" else "-O"
        return [words[place + 1] for place, word in enumerate(words[:-1]) if word in (flag, "--output")][:1]
    return []


def _git(command: ShellCommand, words: list[str]) -> list[str]:
    folder, rest = "", words[1:]
    while rest and rest[0].startswith("-"):
        folder = rest[1] if rest[0] == "-C" and len(rest) > 1 else folder
        rest = rest[2:] if rest[0] in _GIT_VALUES else rest[1:]
    verb, given = (rest[0], rest[1:]) if rest else ("", [])
    if "--dry-run" in given or (verb in ("restore", "reset") and ("--staged" in given or "-S" in given)):
        return []
    after = given[given.index("--") + 1 :] if "--" in given else None
    names: list[str] = []
    if verb == "mv":
        names = _moved([word for word in given if not word.startswith("-")], sources=True)
    elif verb in ("rm", "add", "stage"):
        names = _files(given)
    elif verb == "checkout":
        names = _files(after or [])
    elif verb == "restore":
        names = _files(_without_values(given, frozenset({"-s", "--source"})))
    elif verb == "commit":
        names = _files(_without_values(given, _COMMIT_VALUES) if after is None else after)
    elif verb == "apply" and "--check" not in given and "--stat" not in given:
        names = list(diff_names(command.document))
    return [join_folder(folder, name) if folder else name for name in names]


def _in_place(name: str, words: list[str]) -> list[str]:
    flags = [word for word in words[1:] if word.startswith("-")]
    if name == "perl":
        if not any("i" in flag.split("=")[0] and not flag.startswith(("--", "-I", "-M")) for flag in flags):
            return []
        return _files(_without_values(words[1:], frozenset({"-e", "-E", "-pe", "-ne", "-pie", "-0pe", "-M", "-I"}),
                                      endings=("e", "E")))  # fmt: skip
    if not any(flag.startswith(("-i", "--in-place")) or (flag[1:2] in "nrEsz" and "i" in flag[:4]) for flag in flags):
        return []
    rest = _without_values(words[1:], frozenset({"-e", "-f", "--expression", "--file"}))
    scripted = any(flag.startswith(("-e", "-f", "--expression", "--file")) for flag in flags)
    rest = [word for word in rest if word]  # the empty ending of `-i ''`
    return _files(rest if scripted else rest[1:])


def _without_values(words: Sequence[str], valued: frozenset[str], *, endings: tuple[str, ...] = ()) -> list[str]:
    """The words without flags, and without the values of those that take one."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            short = not word.startswith("--")
            skip = word in valued or (short and word.endswith(endings or ("m",)) and len(word) < 6)
        else:
            kept.append(word)
    return kept


def _moved(names: list[str], *, sources: bool) -> list[str]:
    if len(names) < 2:
        return []
    *given, target = names
    bases = [name.rstrip("/").rsplit("/", 1)[-1] for name in given]
    into = target.endswith("/") or len(given) > 1 or target in (".", "..")
    into = into or ("." not in target.rsplit("/", 1)[-1].strip(".") and all("." in base.strip(".") for base in bases))
    made = [f"{target.rstrip('/')}/{base}" for base in bases] if into else [target]
    return _files([*given, *made] if sources else made)


def _powershell(words: list[str]) -> list[str]:
    for place, word in enumerate(words[:-1]):
        if word.casefold() in ("-path", "-literalpath", "-filepath"):
            return _files([words[place + 1]])
    return _files([word for word in words[1:] if not word.startswith("-")][:1])


def _formats(name: str, words: list[str]) -> bool:
    flags = {word for word in words if word.startswith("-")}
    if name in _ALWAYS_FORMAT:
        return not flags & _ONLY_LOOKING
    if name == "ruff" and words[1:2] == ["format"]:
        return not flags & _ONLY_LOOKING
    return name in _FORMATTERS and bool(flags & _WRITING)


def _script(command: ShellCommand, words: list[str]) -> str:
    for place, word in enumerate(words[1:-1], 1):
        if word in ("-c", "-e", "--eval", "-p"):
            return words[place + 1]
    return command.document


def _files(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith("-") and is_file_name(word)]


def is_file_target(word: str) -> bool:
    """Can something be written to a file of that name? Devices and what only a shell could tell are left out."""
    if not word or word.startswith(("/dev/", "&", "-", ".git/")) or "/.git/" in word or ":\\" in word[2:]:
        return False
    return not any(sign in word for sign in "$`*?\n\0")


def is_file_name(word: str) -> bool:
    """Does a word look like the name of one file, and not of a folder, a pattern or a value?"""
    if not is_file_target(word) or any(sign in word for sign in "{}<>|;\t") or word.endswith("/") or len(word) > 300:
        return False
    base = word.rsplit("/", 1)[-1]
    hidden, titled = base.startswith(".") and len(base) > 2, base[:1].isupper() and base.isalpha()
    return "." in base.strip(".") or hidden or titled


# --- patches ---------------------------------------------------------------------------------------------------------


def patch_names(text: str) -> Iterator[str]:
    """The files of a patch with `*** Update File:` marks, also where it stands escaped in a script."""
    lines = text.split("\n", _PATCH_LINES)[:_PATCH_LINES]
    for line in lines:
        if line.startswith("*** "):
            yield from _opened(line)
        elif "*** " in line and "\\n" in line:
            for part in line.split("\\n"):
                yield from _opened(part[max(0, part.find(BEGIN_PATCH)) :] if BEGIN_PATCH in part else part)


def _opened(line: str) -> Iterator[str]:
    for opening in _OPENINGS:
        if line.startswith(opening):
            yield line[len(opening) :].split("\\n", 1)[0].strip("\r\"'`; ")


def diff_names(text: str) -> Iterator[str]:
    """The files of a unified diff."""
    removed = ""
    for line in text.split("\n", _PATCH_LINES)[:_PATCH_LINES]:
        if line.startswith("--- "):
            removed = _diff_name(line)
        elif line.startswith("+++ ") and removed:
            added = _diff_name(line)
            yield added if added != "/dev/null" else removed
            removed = ""
        elif line.startswith("rename to "):
            yield line[len("rename to ") :].strip()


def _diff_name(line: str) -> str:
    name = line[4:].split("\t", 1)[0].strip()
    return name[2:] if name.startswith(("a/", "b/")) else name


# --- scripts ---------------------------------------------------------------------------------------------------------


def script_changes(script: str) -> Iterator[str]:
    """The files a short script writes: those it names to open, in a script that writes at all."""
    script = script[:_SCRIPT_READ]
    if not script or not _writes_at_all().search(script):
        return
    for found in _opened_names().finditer(script):
        several = found.group("several")
        if several:
            yield from (name for name in _literals().findall(several) if is_file_name(name))
        elif found.group("call") != "open" or _writing_mode().match(script, found.end()):
            yield found.group("name")
    yield from patch_names(script) if BEGIN_PATCH in script else ()


@lru_cache(maxsize=1)
def _writes_at_all() -> Pattern[str]:
    import re

    return re.compile(
        r"write_text\(|write_bytes\(|\.write\(|[wW]riteFile|appendFile|\.unlink\(|os\.(?:remove|rename|replace)\(|"
        r"json\.dump\(|yaml\.dump\(|shutil\.|File\.write|Bun\.write|\*\*\* Begin Patch"
    )


@lru_cache(maxsize=1)
def _opened_names() -> Pattern[str]:
    """Where a script names a file: what it opens, a path it makes, a name it keeps, a list it walks through."""
    import re

    return re.compile(
        r"(?:(?P<call>\bopen|\bPath|[wW]riteFile(?:Sync)?|appendFile(?:Sync)?|\bos\.remove|\bos\.rename|\bos\.replace|"
        r"File\.write|Bun\.write|unlink(?:Sync)?)\(\s*|(?m:^[ \t]*(?:const |let |var )?\w{1,30}[ \t]*=[ \t]*))"
        r"[rf]?(?P<quote>['\"])(?P<name>[\w@.+-][\w@.+ /-]{0,200}\.\w{1,10})(?P=quote)"
        r"|(?:\bin|=)[ \t]*[\[(](?P<several>[^\])]{1,600}+)[\])]"
    )


@lru_cache(maxsize=1)
def _literals() -> Pattern[str]:
    import re

    return re.compile(r"['\"]([\w@.+-][\w@.+/-]{0,200}\.\w{1,10})['\"]")


@lru_cache(maxsize=1)
def _writing_mode() -> Pattern[str]:
    import re

    return re.compile(r"\s{0,20},\s{0,20}(?:mode\s{0,20}=\s{0,20})?['\"][rb]{0,2}[waxr+]{0,2}[wax+]")
