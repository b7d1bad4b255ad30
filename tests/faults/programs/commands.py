"""Every command that writes, and a small project on which each has something to do."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import apsw

import recollect
from recollect import Draft
from recollect.config import Settings
from recollect.core.conversations import Turn
from recollect.interfaces import cli

MEMORIES = 24
FILES = 6
QUIET = Settings(embedder="none")
_IDS = "ids.json"  # of the memories a project begins with
_OLD_STORE = Path(__file__).parents[2] / "store" / "fixtures" / "schema_10.db.gz"
_SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"  # looks like a token and is none


def _nothing(project: Path, model: int) -> None:
    """Most commands need nothing but the project."""


@dataclass(frozen=True)
class Command:
    """One command: what is typed, what stands on stdin, and what may be found when it was killed."""

    name: str
    words: tuple[str, ...] = ()
    stdin: str = ""
    whole: bool = False  # all or nothing, and its first output is its acknowledgement
    once: bool = False  # when it is through, it is not run again: a second time would do something else
    passes_through: bool = False  # on its way it writes what it takes back later
    resumes: bool = True  # a second time does what is left
    idle: bool = False  # it changes nothing that is looked at: access counts, a copy elsewhere
    mends: bool = False  # what it finds is not sound
    leaves_less: bool = False  # than its log tells: what cannot be read is gone
    repeats: tuple[str, ...] = ()  # tables in which a second try leaves more than a first
    has_store: bool = True
    codes: tuple[int, ...] = (0,)
    prepare: Callable[[Path, int], None] = _nothing
    embedder: str = ""  # the name of the embedding model it works with, if any
    model: str = ""  # the name of the language model
    acks: Callable[[str], list[str]] | None = None  # contents whose keeping its output promises
    files: tuple[str, ...] = ()  # beside the store, which it changes; relative to the project's parent
    same_vectors: bool = False  # the vectors that answer are part of the outcome
    gone: str = ""  # what must be in no file in the end
    act: Callable[[Path], int] | None = None  # instead of the command line

    def run(self, project: Path) -> int:
        """In a process of its own, with the project as its working directory."""
        if self.act is not None:
            return self.act(project)
        ids = json.loads((project.parent / _IDS).read_text())
        words = [ids[int(word[1:])] if word[:1] == "@" else word for word in self.words]
        return cli.main(["--as-person", *words])


# --- the project ------------------------------------------------------------------------------------------------------


def environment(folder: Path, command: Command, model: int) -> dict[str, str]:
    """A home of its own, and no model but the one on this port."""
    home, address = str(folder / "home"), f"http://127.0.0.1:{model}/v1"
    return {
        "HOME": home, "XDG_DATA_HOME": f"{home}/data", "XDG_STATE_HOME": f"{home}/state",
        "XDG_CONFIG_HOME": f"{home}/conf", "CLAUDE_CONFIG_DIR": f"{home}/claude", "GIT_CONFIG_GLOBAL": "/dev/null",
        "RECOLLECT_HOOK_LEARN": "off", "RECOLLECT_HOOK_DEADLINE": "3",
        "RECOLLECT_EMBEDDER": f"{address}#{command.embedder}:16" if command.embedder else "none",
        "RECOLLECT_MODEL": f"{address}#{command.model}" if command.model else "none",
    }  # fmt: skip


def make_project(folder: Path, command: Command, model: int) -> None:
    """A repository with documents, sources, chats and transcripts, and a store with memories: ready for a command."""
    project = folder / "project"
    (project / "docs").mkdir(parents=True)
    (project / "src").mkdir()
    (folder / "home" / "claude").mkdir(parents=True)
    _write_sources(project)
    _write_talk(project)
    settings = {"theme": "dark", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo mine"}]}]}}
    (folder / "home" / "claude" / "settings.json").write_text(json.dumps(settings, indent=2))
    os.environ.update(environment(folder, command, model))
    ids: list[str] = []
    if command.has_store:
        with recollect.open(project, settings=QUIET) as memory:
            drafts = [Draft(f"Boiler {n} of hall {n % 5} runs at {n + 3} bar.", tags=["base"]) for n in range(MEMORIES)]
            ids = [receipt.id for receipt in memory.remember_all(drafts)]
    (folder / _IDS).write_text(json.dumps(ids))
    command.prepare(project, model)


def _write_sources(project: Path) -> None:
    for n in range(FILES):
        after = (n + 1) % FILES
        parts = (
            f"## Part {part}\n\nPump {n}-{part} must run at {part} bar. See [next](d{after}.md)." for part in range(4)
        )
        (project / "docs" / f"d{n}.md").write_text(f"# Document {n}\n\n" + "\n\n".join(parts))
        calls = (f"def f{n}_{k}(x):\n    return m{after}.f{after}_{k}(x)\n" for k in range(4))
        (project / "src" / f"m{n}.py").write_text(f"import m{after}\n\n\n" + "\n\n".join(calls))
    (project / "CLAUDE.md").write_text(
        "# Rules\n\n- Use tabs in Makefiles.\n- Never commit to main.\n- Run the linter.\n"
    )
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q", "-b", "main", "--template="], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], cwd=project, check=True, capture_output=True)


def _write_talk(project: Path) -> None:
    with (project / "chat.jsonl").open("w") as chat:
        for n in range(20):
            line = {"session": f"s{n % 3}", "role": "user" if n % 2 else "assistant", "id": f"turn-{n}",
                    "content": f"I moved to city {n} and my dog {n} is called Rex{n}."}  # fmt: skip
            chat.write(json.dumps(line) + "\n")
    with (project / "work.jsonl").open("w") as work:
        for n in range(20):
            common = {"sessionId": "abc", "cwd": str(project), "timestamp": f"2026-01-01T00:{n:02d}:00Z"}
            use = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"pytest tests/t{n % 7}.py"}}
            said = {"role": "assistant", "content": [use]}
            work.write(json.dumps({"type": "assistant", **common, "uuid": f"u{n}", "message": said}) + "\n")
            result = {"type": "tool_result", "tool_use_id": f"t{n}", "is_error": True,
                      "content": f"ImportError: no module named foo{n % 5}"}  # fmt: skip
            heard = {"role": "user", "content": [result]}
            work.write(json.dumps({"type": "user", **common, "uuid": f"v{n}", "message": heard}) + "\n")


def expire_leases(project: Path) -> None:
    """As if so much time had passed that a chore which a dead process holds is free again."""
    connection = apsw.Connection(str(project / ".recollect" / "memory.db"))
    try:
        if connection.execute("select 1 from sqlite_schema where name = 'jobs'").get:
            connection.execute("update jobs set lease_until = 0 where holder is not null")
    finally:
        connection.close()


def warm_up(model: int) -> None:
    """Load here what commands load, so that a forked one spends its time on its work."""
    for name in {module for module, _ in cli.COMMANDS.values()}:
        import_module(f"recollect.interfaces.cli.{name}")
    for name in (
        "recollect.observer.replay", "recollect.interfaces.mcp.server", "recollect.interfaces.hook",
        "recollect.documents.guidance.teach", "recollect.tend.runner", "recollect.embed.remote",
    ):  # fmt: skip
        import_module(name)
    with recollect.open(":memory:", settings=QUIET) as memory:
        memory.forget(memory.edit(memory.remember("warm").id, content="warmer").id)
        memory.recall("warm")


# --- what some commands need ------------------------------------------------------------------------------------------


def _main(*words: str) -> None:
    code = cli.main(["--as-person", *words])
    assert code == 0, (words, code)


def _with_two_contents(project: Path, model: int) -> None:
    with recollect.open(project, settings=QUIET) as memory:
        ids = json.loads((project.parent / _IDS).read_text())
        memory.edit(ids[0], content="Boiler zero was sold to the museum.")


def _with_spool(project: Path, model: int) -> None:
    """A session that hooks wrote down, which has ended."""
    os.chdir(project)
    from recollect.interfaces import hook

    common = {"session_id": "spooled", "cwd": str(project)}
    events: list[dict[str, Any]] = [{"hook_event_name": "SessionStart", "source": "startup"}]
    events.append({"hook_event_name": "UserPromptSubmit", "prompt": "make the tests of the pump pass"})
    for n in range(8):
        call = {"tool_name": "Bash", "tool_use_id": f"t{n}", "tool_input": {"command": f"pytest tests/t{n % 3}.py"}}
        events.append({"hook_event_name": "PreToolUse", **call})
        events.append(
            {"hook_event_name": "PostToolUseFailure", **call, "error": f"ImportError: no module named foo{n % 2}"}
        )
    events.append({"hook_event_name": "SessionEnd", "reason": "exit"})
    for event in events:
        hook.run("claude-code", json.dumps({**common, **event}).encode(), os.environ)


def _with_prompt(project: Path, model: int) -> None:
    """A session that is going on."""
    os.chdir(project)
    from recollect.interfaces import hook

    hook.run("claude-code", _event("UserPromptSubmit", prompt="make the tests of the pump pass").encode(), os.environ)


def _with_chats(project: Path, model: int) -> None:
    os.chdir(project)
    _main("import", "chat.jsonl")


def _with_vectors(project: Path, model: int) -> None:
    os.chdir(project)
    os.environ["RECOLLECT_EMBEDDER"] = f"http://127.0.0.1:{model}/v1#first:16"
    _main("tend", "--job", "vectors")
    os.environ["RECOLLECT_EMBEDDER"] = "none"


def _with_two_models(project: Path, model: int) -> None:
    _with_vectors(project, model)
    os.environ["RECOLLECT_EMBEDDER"] = f"http://127.0.0.1:{model}/v1#second:16"
    _main("tend", "--job", "vectors")
    os.environ["RECOLLECT_EMBEDDER"] = "none"


def _with_documents(project: Path, model: int) -> None:
    os.chdir(project)
    _main("docs", "index")
    shutil.copytree(project / "docs", project / "copy")
    _main("docs", "index")


def _with_old_index(project: Path, model: int) -> None:
    os.chdir(project)
    _main("code", "index")
    for n in range(FILES // 2):
        with (project / "src" / f"m{n}.py").open("a") as source:
            source.write(f"\n\ndef added{n}():\n    return f{n}_0(1)\n")
    (project / "src" / f"m{FILES - 1}.py").unlink()


def _with_backup(project: Path, model: int) -> None:
    os.chdir(project)
    _main("backup")
    _main("remember", "This was said after the backup and goes when it is put back.")


def _with_damage(project: Path, model: int) -> None:
    """A row whose content is not what its checksum says."""
    connection = apsw.Connection(str(project / ".recollect" / "memory.db"))
    connection.execute("update memories set content = 'altered' where seq = 5")
    connection.close()


def _with_broken_index(project: Path, model: int) -> None:
    connection = apsw.Connection(str(project / ".recollect" / "memory.db"))
    connection.execute("delete from facets where seq % 3 = 0")
    connection.close()


def _with_secrets(project: Path, model: int) -> None:
    """Secrets in rows, below the screen, as a release without a rule for them would have stored them."""
    ids = json.loads((project.parent / _IDS).read_text())
    with recollect.open(project, settings=QUIET) as memory, memory.store.engine.write():
        for n, id in enumerate(ids[:3]):
            before = memory.get(id)
            memory.store.memories.update(before, before.having(content=f"Boiler {n} opens with {_SECRET}."))


def _with_candidates(project: Path, model: int) -> None:
    """Three more memories about different things, which a review decides together."""
    path = project.parent / _IDS
    contents = ("Pumps are serviced in March.", "The spare keys hang in the porch.", "Invoices go to Mira.")
    with recollect.open(project, settings=QUIET) as memory:
        more = [memory.remember(content, needs_review=True).id for content in contents]
    path.write_text(json.dumps([*json.loads(path.read_text()), *more]))


def _with_other_store(project: Path, model: int) -> None:
    """Another store beside the project, an archive and a table of what it holds."""
    with recollect.open(project.parent / "other.db", project="other", settings=QUIET) as memory:
        kept = memory.remember_all([Draft(f"Crane {n} lifts {n * 7} tons of ore.", tags=("cranes",)) for n in range(9)])
        memory.edit(kept[0].id, content="Crane zero was scrapped.")
        memory.relate(kept[1].id, "validates", to=kept[2].id)
        memory.reject(kept[3].id)
        memory.export(project / "given.zip", format="archive", personal=True)
    rows = "".join(f"r{n},Winch {n} pulls {n * 5} tons of rope.\n" for n in range(9))
    (project / "given.csv").write_text(f"id,content\n{rows}")


def _with_export_only(project: Path, model: int) -> None:
    """An archive of the project, whose store is gone."""
    with recollect.open(project, settings=QUIET) as memory:
        kept = memory.remember_all([Draft(f"Crane {n} lifts {n * 7} tons of ore.") for n in range(9)])
        memory.edit(kept[0].id, content="Crane zero was scrapped.")
        memory.reject(kept[1].id)
        memory.export(project / "given.zip", format="archive", personal=True)
    shutil.rmtree(project / ".recollect")


def _with_old_store(project: Path, model: int) -> None:
    folder = project / ".recollect"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "memory.db").write_bytes(gzip.decompress(_OLD_STORE.read_bytes()))


def _with_host(project: Path, model: int) -> None:
    os.chdir(project)
    _main("install", "claude-code")


def _with_entities(project: Path, model: int) -> None:
    os.chdir(project)
    with recollect.open(project, settings=QUIET) as memory:
        memory.sessions.capture("Anna Berg met Peter Holm at Harbour Works in Oslo.", session="talk")
    _main("tend", "--job", "enrich")


def _with_subject(project: Path, model: int) -> None:
    """Somebody in memories, in talk, in a session's file and in a backup."""
    _with_entities(project, model)
    with recollect.open(project, settings=QUIET) as memory:
        first = memory.remember("Anna Berg has the key of hall two.").id
        memory.remember("Hall two is locked at night.", derived_from=[first], why="Anna Berg said so")
        at = memory.writer.now()
        memory.store.turns.put(Turn("turn_1", "s", "w", "recency", "m", at, "I am Anna Berg."))
    from recollect.interfaces import hook

    hook.run("claude-code", _event("UserPromptSubmit", prompt="ask Anna Berg about the pump").encode(), os.environ)
    _main("backup")


# --- acts that have no command of their own ---------------------------------------------------------------------------


def _forget_all(project: Path) -> int:
    with recollect.open(project, settings=QUIET) as memory:
        gone = memory.forget_all(json.loads((project.parent / _IDS).read_text())[:12])
    print(len(gone), flush=True)  # noqa: T201
    return 0


def _open(project: Path) -> int:
    with recollect.open(project, settings=QUIET) as memory:
        memory.count()
    return 0


def _serve(project: Path) -> int:
    from recollect.interfaces.mcp.handle import MemoryHandle
    from recollect.interfaces.mcp.server import serve_stdio

    serve_stdio(MemoryHandle(str(project), read_only=False, actor="mcp"))
    return 0


def _hook(project: Path) -> int:
    from recollect.interfaces import hook

    return hook.main(["claude-code"])


_SAID = [f"Crane {n} lifts {n + 2} tonnes over dock {n}." for n in range(6)]


def _requests() -> str:
    """An MCP conversation: six things to remember, then the end of stdin."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    lines.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
    lines += [
        {
            "jsonrpc": "2.0",
            "id": n + 1,
            "method": "tools/call",
            "params": {"name": "add", "arguments": {"content": said}},
        }
        for n, said in enumerate(_SAID)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def _answered(output: str) -> list[str]:
    """The contents whose request was answered, by complete lines."""
    numbers = [json.loads(line).get("id") for line in output.splitlines(keepends=True) if line.endswith("\n")]
    return [_SAID[number - 1] for number in numbers if number]


def _event(name: str, **given: Any) -> str:
    return json.dumps({"hook_event_name": name, "session_id": "live", "cwd": ".", **given})


_CALL = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}, "tool_response": {"stdout": "ok"}}
_DRAFTS = "".join(json.dumps({"content": f"Valve {n} closes after {n} turns."}) + "\n" for n in range(8))

COMMANDS = (
    Command("init", ("init",), has_store=False),
    Command("remember", ("remember", "Dock nine is closed in winter."), whole=True),
    Command("remember --jsonl", ("remember", "--jsonl"), stdin=_DRAFTS, whole=True),
    Command("edit", ("edit", "@1", "Boiler one was replaced."), whole=True),
    Command("correct", ("correct", "@2", "Boiler two runs at nine bar."), whole=True, once=True),
    Command("confirm", ("confirm", "@3"), whole=True),
    Command("reject", ("reject", "@4"), whole=True, once=True),
    Command("told --reject", ("told", "--reject", "@4"), whole=True, once=True),
    Command("dispute", ("dispute", "@5"), whole=True, once=True),
    Command("pin", ("pin", "@6"), whole=True),
    Command("forget", ("forget", "@7"), whole=True, once=True),
    Command("forget_all", act=_forget_all, whole=True, once=True),
    Command("erase", ("erase", "--subject", "Anna Berg", "--backups", "--yes"), prepare=_with_subject,
            gone="Anna Berg"),
    Command("erase --everything", ("erase", "--everything", "--backups", "delete", "--yes"), prepare=_with_subject,
            gone="Anna Berg"),
    Command("undo", ("undo", "@0"), prepare=_with_two_contents, whole=True, once=True),
    Command("recall", ("recall", "boiler hall bar"), idle=True),
    Command("import chats", ("import", "chat.jsonl")),
    Command("import rules", ("import", "rules")),
    Command("import archive", ("import", "given.zip"), prepare=_with_other_store),
    Command("import archive into nothing", ("import", "given.zip"), prepare=_with_export_only, has_store=False),
    Command("import table", ("import", "given.csv"), prepare=_with_other_store),
    Command("migrate here", ("migrate", "../other.db", "."), prepare=_with_other_store),
    Command("docs index", ("docs", "index")),
    Command("docs gc", ("docs", "gc"), prepare=_with_documents, idle=True),
    Command("code index", ("code", "index")),
    Command("code index again", ("code", "index"), prepare=_with_old_index),
    Command("observe", ("observe", "work.jsonl")),
    Command("observe --spool", ("observe", "--spool"), prepare=_with_spool),
    Command("tend", ("tend",), prepare=_with_chats, passes_through=True),
    Command("tend --job consolidate", ("tend", "--job", "consolidate"), prepare=_with_chats, passes_through=True),
    Command("tend --job enrich", ("tend", "--job", "enrich"), prepare=_with_chats),
    Command("tend --job vectors", ("tend", "--job", "vectors"), embedder="first", same_vectors=True),
    Command(
        "another embedder", ("tend", "--job", "vectors"), prepare=_with_vectors,
        embedder="second", same_vectors=True,
    ),
    Command(
        "tend --back", ("tend", "--back"), prepare=_with_two_models, once=True, same_vectors=True,
        embedder="second",
    ),
    Command(
        "chat", ("chat", "--once", "Hall three is cold today.", "--session", "talk", "--no-stream"), once=True,
        repeats=("turns",), model="talker",
    ),
    Command("backup", ("backup",), idle=True),
    Command("export", ("export", "-o", "out.jsonl"), idle=True),
    Command("migrate", ("migrate", ".", "moved.db"), idle=True),
    Command("token create", ("token", "create", "ci"), idle=True, codes=(0, 2)),  # 2: there is one of that name
    Command("check", ("check",), idle=True),
    Command("restore", ("restore",), prepare=_with_backup, whole=True, once=True),
    Command("repair", ("repair",), prepare=_with_damage, mends=True, leaves_less=True, once=True, codes=(0, 1)),
    Command("scan --fix", ("scan", "--fix"), prepare=_with_secrets, codes=(0, 1), mends=True),
    Command("review", ("review", "--confirm", f"@{MEMORIES}", f"@{MEMORIES + 1}", "--reject", f"@{MEMORIES + 2}"),
            prepare=_with_candidates, whole=True, once=True),
    Command("entity merge", ("entity", "merge", "Anna Berg", "Peter Holm"), prepare=_with_entities, once=True),
    Command("repair --rebuild", ("repair", "--rebuild"), prepare=_with_broken_index, mends=True),
    Command("upgrade", act=_open, prepare=_with_old_store, idle=True),
    Command("mcp add", act=_serve, stdin=_requests(), acks=_answered, repeats=("links",)),
    Command("hook prompt", act=_hook, stdin=_event("UserPromptSubmit", prompt="How hot is boiler 3?"), resumes=False),
    Command("hook tool", act=_hook, stdin=_event("PostToolUse", **_CALL), resumes=False, prepare=_with_prompt),
    Command("hook end", act=_hook, stdin=_event("SessionEnd", reason="exit"), resumes=False, prepare=_with_prompt),
    Command("trust", ("trust", "cautious"), idle=True),
    Command("team init", ("team", "init", "harbour", "--admin", "Ada"), idle=True, once=True),
    Command("install", ("install", "claude-code"), files=("home/claude/settings.json",)),
    Command("uninstall", ("uninstall", "claude-code"), prepare=_with_host, files=("home/claude/settings.json",)),
)  # fmt: skip
