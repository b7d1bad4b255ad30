"""Rules files as memories: what they say, of which kind, whose words, and that running it again changes nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.aio import open as open_async
from recollect.app import Recollect
from recollect.core.errors import InvalidField
from recollect.core.query import Filter
from recollect.core.scope import Source, Status, Visibility
from recollect.documents.guidance.statements import MAX_CHARS, MAX_STATEMENTS, classify, split_statements
from recollect.documents.guidance.teach import Lesson

SECRET = "ghp_" + "x7K2m9Q4" * 4 + "Zr81"
RULES = """# Boats

Boats is a service that keeps boats.

## Commands

```bash
make test       # run all tests
# build the hull
make hull
```

## Style

Use these:
- Prefer tabs over spaces.
- Never call `print`; see `src/log.py`.
- Naming
  - snake_case
  - short names everywhere

## Gotchas

The cache breaks when `REDIS_URL` is empty.

## Adding a boat

1. Add a row to `boats.sql`.
2. Run `make gen`.

| Module | Owner |
|--------|-------|
| hull | Ada |
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "CLAUDE.md").write_text(RULES, encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "log.py").write_text("")
    return tmp_path


@pytest.fixture
def memory(root: Path) -> Iterator[Recollect]:
    with recollect.open(root, project="boats", actor="tester") as opened:
        yield opened


def said(text: str) -> list[str]:
    return [statement.text for statement in split_statements(text).statements]


def of(memory: Recollect, text: str) -> recollect.Memory:
    page = memory.list(Filter(tags=frozenset({"rules"})), limit=500)
    return next(memory for memory in page.memories if text in memory.content)


def counts(lesson: Lesson) -> tuple[int, int, int, int]:
    return len(lesson.added), len(lesson.changed), lesson.kept, len(lesson.gone)


# --- statements -----------------------------------------------------------------------------------------------------


def test_a_file_is_taken_apart_into_statements_with_their_headings() -> None:
    found = {
        statement.text: (statement.headings, statement.intro, statement.first)
        for statement in split_statements(RULES).statements
    }
    assert found == {
        "Boats is a service that keeps boats.": (("Boats",), "", 3),
        "run all tests: `make test`": (("Boats", "Commands"), "", 8),
        "build the hull: `make hull`": (("Boats", "Commands"), "", 10),
        "Prefer tabs over spaces.": (("Boats", "Style"), "Use these", 16),
        "Never call `print`; see `src/log.py`.": (("Boats", "Style"), "Use these", 17),
        "Naming: snake_case": (("Boats", "Style"), "Use these › Naming", 19),
        "short names everywhere": (("Boats", "Style"), "Use these › Naming", 20),
        "The cache breaks when `REDIS_URL` is empty.": (("Boats", "Gotchas"), "", 24),
        "Adding a boat:\n1. Add a row to `boats.sql`.\n2. Run `make gen`.": (("Boats", "Adding a boat"), "", 28),
        "Module: hull; Owner: Ada": (("Boats", "Adding a boat"), "", 33),
    }


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        ("<!-- nothing\nto see -->\n\n---\n\n# Only a title\n", []),
        ("- [Setup](#setup)\n- [Style](#style)\n", []),
        ("<rules>\n- Keep one thing per file, always.\n</rules>\n", ["Keep one thing per file, always."]),
        ("Call `__all__` and **never** [this](http://x.y/z).", ["Call `__all__` and never this (http://x.y/z)."]),
        ("Do it like so:\n\n```python\nx = 1\n```\n", ["Do it like so:\nx = 1"]),
        ("Prose that explains.\n\n```python\nx = 1\n```\n", ["Prose that explains.\nx = 1"]),
        ("**Lint**: `ruff check it`\n**Test**: `pytest all`\n", ["Lint: `ruff check it`", "Test: `pytest all`"]),
        ("> Quoted rules are rules as well.\n", ["Quoted rules are rules as well."]),
        ("1. First of all rules\n2. Second of all rules\n", ["First of all rules", "Second of all rules"]),
        ("* a b c d\n\n  more of it\n", ["a b c d more of it"]),
        ("🚀\n\n---\n\n***\n", []),
    ],
)  # fmt: skip
def test_structure_is_read_as_people_mean_it(text: str, statements: list[str]) -> None:
    assert said(text) == statements


def test_a_label_that_comes_again_under_other_headings_is_told_with_its_heading() -> None:
    next, last = (
        "## Next task\n\n- Usage: find what to do.\n",
        "## Tasks\n\n- Last task\n  - Usage: find what was done.\n",
    )
    assert said(f"{next}\n{last}\n- Cost: none at all.\n") == [
        "Next task: Usage: find what to do.",
        "Last task: Usage: find what was done.",
        "Cost: none at all.",
    ]


def test_hostile_files_are_bounded() -> None:
    sheet = split_statements(
        "- rule number one\n" + "".join(f"- rule of number {n}\n" for n in range(MAX_STATEMENTS + 50))
    )
    assert (len(sheet.statements), sheet.left_out) == (MAX_STATEMENTS, 51)
    assert len(said("word " * 9_000)[0]) <= MAX_CHARS
    for deep in ("- " * 3_000 + "deep rule of rules", "> " * 5_000 + "deep", "<b>" * 9_000, "`" * 9_001, "|" * 9_000):
        assert isinstance(said(deep), list)
    assert said("[" * 20_000) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never commit to main directly.", "requirement"),
        ("You must run the tests before pushing.", "requirement"),
        ("Prefer composition over inheritance.", "preference"),
        ("Use pnpm, not npm for everything.", "preference"),
        ("Avoid mocks in integration tests.", "preference"),
        ("Watch out: the cache is shared by all tests.", "gotcha"),
        ("The build fails when Redis is down.", "gotcha"),
        ("We decided on PostgreSQL for the queue.", "decision"),
        ("Run the tests: `uv run pytest -x`", "workflow_recipe"),
        ("`make lint` checks everything", "workflow_recipe"),
        ("`src/app/` holds the application", "module_insight"),
        ("Use dataclasses for values.", "pattern"),
        ("The service was born in Bergen.", "fact"),
    ],
)
def test_a_kind_is_told_by_the_words(text: str, kind: str) -> None:
    assert classify(split_statements(text).statements[0]) == kind


def test_under_commands_only_what_names_one_or_says_what_to_do_is_a_recipe() -> None:
    found = split_statements(
        "## Commands\n\n- The hull meets the water.\n- `hull check` and then sail\n- Update the hull.\n"
    )
    kinds = [classify(statement) for statement in found.statements]
    assert kinds == ["fact", "workflow_recipe", "workflow_recipe"]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Architecture", "module_insight"),
        ("Common pitfalls", "gotcha"),
        ("Code style", "pattern"),
        ("User preferences", "preference"),
        ("Security requirements", "requirement"),
        ("Anything else", "fact"),
        ("Release commands", "fact"),
    ],
)
def test_a_kind_is_told_by_the_heading_when_the_words_do_not(heading: str, kind: str) -> None:
    assert classify(split_statements(f"## {heading}\n\nThe hull meets the water there.").statements[0]) == kind


# --- teaching -------------------------------------------------------------------------------------------------------


def test_rules_become_typed_memories_that_a_person_taught(memory: Recollect) -> None:
    lesson = memory.docs.import_rules()
    assert (lesson.files, counts(lesson)) == (["CLAUDE.md"], (10, 0, 0, 0))
    rule = of(memory, "Never call")
    assert (rule.kind, rule.source, rule.visibility) == ("requirement", Source.USER_TAUGHT, Visibility.PROJECT)
    assert rule.files == ("src/log.py",), "a file it names is tied to it"
    assert rule.attributes["rule_file"] == "CLAUDE.md"
    assert rule.attributes["lines"] == [17, 17]
    recipe = of(memory, "Adding a boat")
    assert recipe.kind == "workflow_recipe"
    assert recipe.payload is not None
    assert "Style" in {hit.memory.attributes["headings"][-1] for hit in memory.recall("style naming", track=False)}
    assert memory.why(rule.id).history[0].change.why == "CLAUDE.md, line 17"


def test_the_second_run_changes_nothing_at_all(memory: Recollect) -> None:
    memory.docs.import_rules()
    before = len(memory.history(limit=1_000))
    assert counts(memory.docs.import_rules()) == (0, 0, 10, 0)
    assert len(memory.history(limit=1_000)) == before


def test_moving_lines_and_headings_changes_nothing(memory: Recollect, root: Path) -> None:
    memory.docs.import_rules()
    (root / "CLAUDE.md").write_text("# New title\n\nSomething new to know here.\n\n" + RULES)
    assert counts(memory.docs.import_rules()) == (1, 0, 10, 0)


def test_an_edited_line_supersedes_its_old_memory_and_back_again(memory: Recollect, root: Path) -> None:
    memory.docs.import_rules()
    old = of(memory, "Prefer tabs")
    edited = RULES.replace("Prefer tabs over spaces.", "Prefer tabs over spaces, except in YAML.")
    (root / "CLAUDE.md").write_text(edited)
    lesson = memory.docs.import_rules()
    assert counts(lesson) == (0, 1, 9, 0)
    assert lesson.changed[0].was == old.id
    assert memory.get(old.id).superseded_by == lesson.changed[0].id
    (root / "CLAUDE.md").write_text(RULES)
    assert counts(memory.docs.import_rules()) == (0, 1, 9, 0)
    assert of(memory, "Prefer tabs").content == "Prefer tabs over spaces."
    assert counts(memory.docs.import_rules()) == (0, 0, 10, 0)


def test_a_removed_line_is_told_and_retired_only_on_request(memory: Recollect, root: Path) -> None:
    memory.docs.import_rules()
    (root / "CLAUDE.md").write_text(RULES.replace("The cache breaks when `REDIS_URL` is empty.", ""))
    lesson = memory.docs.import_rules()
    assert [one.text for one in lesson.gone] == ["The cache breaks when `REDIS_URL` is empty."]
    id = of(memory, "The cache breaks").id
    assert memory.get(id).status is Status.ACTIVE
    assert len(memory.docs.import_rules(retire=True).gone) == 1
    assert memory.get(id).status is Status.EXPIRED
    assert counts(memory.docs.import_rules(retire=True)) == (0, 0, 9, 0)
    (root / "CLAUDE.md").write_text(RULES)
    assert counts(memory.docs.import_rules()) == (1, 0, 9, 0), "what comes back to the file comes back"


def test_what_people_changed_here_is_not_undone_by_the_file(memory: Recollect, root: Path) -> None:
    memory.docs.import_rules()
    memory.reject(of(memory, "Prefer tabs").id, why="we use spaces")
    memory.edit(of(memory, "The cache breaks").id, content="The cache needs REDIS_URL.")
    memory.correct(of(memory, "Never call").id, "Call print in scripts only.")
    memory.forget(of(memory, "Owner: Ada").id)
    lesson = memory.docs.import_rules()
    assert counts(lesson) == (0, 0, 7, 0)
    assert {one.why.split(" ")[0] for one in lesson.left_out} == {"rejected", "corrected", "forgotten"}
    assert of(memory, "The cache needs").status is Status.ACTIVE


def test_a_statement_in_two_files_is_one_memory_and_stays_while_one_of_them_has_it(
    memory: Recollect, root: Path
) -> None:
    (root / "AGENTS.md").write_text("- Prefer tabs over spaces.\n- Ask before you delete anything.\n")
    assert counts(memory.docs.import_rules()) == (11, 0, 0, 0)
    (root / "AGENTS.md").write_text("- Ask before you delete anything.\n")
    assert counts(memory.docs.import_rules(retire=True)) == (0, 0, 11, 0)


def test_a_dry_run_tells_the_same_and_writes_nothing(memory: Recollect) -> None:
    lesson = memory.docs.import_rules(dry_run=True, retire=True)
    assert counts(lesson) == (10, 0, 0, 0)
    assert lesson.added[0].kind
    assert memory.count() == 0


def test_what_somebody_taught_before_in_the_same_words_is_kept(memory: Recollect) -> None:
    memory.remember("Prefer tabs over spaces.", kind="preference")
    for _ in range(2):
        lesson = memory.docs.import_rules()
        assert "Prefer tabs over spaces." not in [one.text for one in lesson.added]
    assert memory.count(Filter(kinds=frozenset({"preference"}))) == 1


def test_a_secret_is_taken_out_and_the_next_run_still_knows_the_line(memory: Recollect, root: Path) -> None:
    (root / "CLAUDE.md").write_text(f"- The deploy token is {SECRET} for now.\n")
    lesson = memory.docs.import_rules()
    assert lesson.redacted == 1
    assert SECRET not in lesson.added[0].text
    assert of(memory, "deploy token").flagged
    assert SECRET.encode() not in (root / ".recollect" / "memory.db").read_bytes()
    assert counts(memory.docs.import_rules()) == (0, 0, 1, 0)


def test_rules_that_oppose_each_other_stand_side_by_side(memory: Recollect, root: Path) -> None:
    (root / "CLAUDE.md").write_text("- Use single quotes in files now.\n- Use double quotes in files now.\n")
    assert counts(memory.docs.import_rules()) == (2, 0, 0, 0)
    assert counts(memory.docs.import_rules()) == (0, 0, 2, 0)


# --- files ----------------------------------------------------------------------------------------------------------


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def test_every_known_rules_file_of_the_project_is_found(memory: Recollect, root: Path) -> None:
    names = [
        "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".cursor/rules/a.mdc", ".claude/rules/b.md",
        ".github/copilot-instructions.md", "pkg/AGENTS.md", "CLAUDE.local.md", ".windsurf/rules/c.md",
    ]  # fmt: skip
    write(root, {name: f"- Rule of the file called {name}.\n" for name in names})
    write(root, {"node_modules/x/AGENTS.md": "- Not ours at all.\n", "README.md": "Not a rule.\n"})
    write(root, {".gitignore": "CLAUDE.local.md\n"})
    lesson = memory.docs.import_rules(dry_run=True)
    assert set(lesson.files) == {"CLAUDE.md", *names}


def test_rules_of_a_directory_belong_to_its_module_and_local_ones_are_personal(memory: Recollect, root: Path) -> None:
    write(root, {"pkg/AGENTS.md": "- Keep the package small, see `x.py`.\n", "pkg/x.py": ""})
    write(root, {"CLAUDE.local.md": "- My sandbox lives at port 9.\n"})
    memory.docs.import_rules()
    rule = of(memory, "Keep the package")
    assert (rule.modules, rule.scope, rule.files) == (("pkg",), "module", ("pkg/x.py",))
    assert of(memory, "My sandbox").visibility is Visibility.PERSONAL


def test_front_matter_of_cursor_rules_is_context_not_a_rule(memory: Recollect, root: Path) -> None:
    front = '---\ndescription: TypeScript\nglobs: "*.ts, *.tsx"\nalwaysApply: false\n---\n'
    write(root, {".cursor/rules/ts.mdc": f"{front}- Use strict mode here.\n"})
    memory.docs.import_rules()
    rule = of(memory, "strict mode")
    assert rule.attributes["globs"] == ["*.ts", "*.tsx"]
    assert rule.attributes["lines"] == [6, 6]
    assert rule.modules == ()


def test_an_agents_own_notes_are_an_agents_words_typed_by_their_front_matter(memory: Recollect, tmp_path: Path) -> None:
    notes = tmp_path / "elsewhere" / "memory"
    front = "---\nname: {0}\ndescription: about {0}\ntype: {0}\n---\n"
    write(
        notes,
        {
            "MEMORY.md": "- [Who](user.md) — role of the user\n- Loose note about nothing much.\n",
            "user.md": front.format("user") + "Ada writes Go since ten years.\n",
            "feedback.md": front.format("feedback") + "Integration tests use a real database.\n",
            "project.md": front.format("project") + "Merges are frozen from 2026-03-05.\n",
            "reference.md": front.format("reference") + "Bugs are tracked in Linear, project INGEST.\n",
        },
    )
    lesson = memory.docs.import_rules([notes])
    kinds = {one.text.split(" ")[0]: one.kind for one in lesson.added}
    assert kinds == {
        "Loose": "fact", "Ada": "preference", "Integration": "preference", "Merges": "decision", "Bugs": "fact",
    }  # fmt: skip
    assert of(memory, "Ada writes").source is Source.AGENT_EXPLICIT
    assert of(memory, "Ada writes").visibility is Visibility.PERSONAL


def test_of_codex_notes_only_the_handbook_is_read(memory: Recollect, tmp_path: Path) -> None:
    notes = tmp_path / "codex" / "memories"
    write(
        notes,
        {
            "MEMORY.md": "# Task Group: boats\n\n## User preferences\n\n- short answers, when asked for one [Task 1]\n",
            "memory_summary.md": "## Failures\n\n- the deploy script needs the flag twice over\n",
            "raw_memories.md": "- raw and unwanted material here\n",
            "rollout_summaries/x.md": "- a rollout\n",
        },
    )
    lesson = memory.docs.import_rules([notes])
    assert {(one.kind, one.text.split(" ")[0]) for one in lesson.added} == {("preference", "short"), ("gotcha", "the")}
    assert of(memory, "short answers").source is Source.AGENT_EXPLICIT


def test_geminis_own_notes_in_a_persons_file_are_an_agents_words(memory: Recollect, root: Path) -> None:
    write(
        root, {"GEMINI.md": "- Speak plainly to the user.\n\n## Gemini Added Memories\n- The user sails on Sundays.\n"}
    )
    memory.docs.import_rules()
    assert of(memory, "Speak plainly").source is Source.USER_TAUGHT
    assert of(memory, "sails on Sundays").source is Source.AGENT_EXPLICIT


def test_imports_are_followed_within_the_root_only(
    memory: Recollect, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    write(outside, {"secret.md": "- A rule from outside of here.\n"})
    (root / "link.md").symlink_to(outside / "secret.md")
    write(
        root,
        {
            "CLAUDE.md": "@docs/style.md\n@AGENTS.md\n@link.md\n@missing.md\n@package.json\n\n"
            "See @docs/more.md for all the rest.\nAsk @alice or `@docs/code.md` about @types/node.\n"
            f"@{outside}/secret.md\n",
            "docs/style.md": "- Wrap lines at eighty signs.\n@../CLAUDE.md\n",
            "docs/more.md": "- Name things by what they do.\n",
            "docs/code.md": "- Should not be read at all.\n",
            "AGENTS.md": "- Ask before you delete anything.\n",
            "package.json": "{}",
        },
    )
    lesson = memory.docs.import_rules([root / "CLAUDE.md"])
    assert set(lesson.files) == {"CLAUDE.md", "docs/style.md", "docs/more.md", "AGENTS.md"}
    texts = " ".join(one.text for one in lesson.added)
    assert "outside" not in texts
    assert "See @docs/more.md for all the rest." in texts
    assert "@docs/style.md" not in texts
    reasons = {one.relative.split(" ")[0]: one.reason for one in lesson.skipped}
    assert reasons["@link.md"] == "it lies outside of the project"
    assert reasons["@missing.md"] == "it is not there"
    assert reasons["@package.json"] == "it is no text of rules"


def test_imports_of_imports_end_at_five(memory: Recollect, root: Path) -> None:
    write(root, {f"r{n}.md": f"- Rule of the file number {n}.\n\n@r{n + 1}.md\n" for n in range(9)})
    lesson = memory.docs.import_rules([root / "r0.md"])
    assert lesson.files == [f"r{n}.md" for n in range(6)]
    assert "5 imports deep" in lesson.skipped[0].reason


@pytest.mark.parametrize("data", [b"\xff\xfe\x00bad", b"a\0b", b"x" * 5_000_001])
def test_a_file_that_is_no_text_is_named_and_the_rest_is_taught(memory: Recollect, root: Path, data: bytes) -> None:
    (root / "AGENTS.md").write_bytes(data)
    lesson = memory.docs.import_rules()
    assert len(lesson.added) == 10
    assert [one.relative for one in lesson.skipped] == ["AGENTS.md"]


def test_a_link_between_rules_files_is_read_once(memory: Recollect, root: Path) -> None:
    (root / "AGENTS.md").symlink_to(root / "CLAUDE.md")
    lesson = memory.docs.import_rules()
    assert (lesson.files, lesson.skipped) == (["CLAUDE.md"], [])


def test_a_path_that_is_not_there_is_an_error_and_changes_nothing(memory: Recollect) -> None:
    with pytest.raises(InvalidField, match="no such file"):
        memory.docs.import_rules(["CLAUDE.md", "nope.md"])
    assert memory.count() == 0


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_named(memory: Recollect, root: Path) -> None:
    (root / "AGENTS.md").write_text("- x y z w\n")
    (root / "AGENTS.md").chmod(0)
    assert [one.relative for one in memory.docs.import_rules().skipped] == ["AGENTS.md"]


def test_the_asyncio_twin_teaches_too(root: Path) -> None:
    async def story() -> int:
        async with await open_async(root) as memory:
            return len((await memory.docs.import_rules()).added)

    assert asyncio.run(story()) == 10
