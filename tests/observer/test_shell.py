"""A shell line is read as the commands it holds, and the files it changes are seen."""

from __future__ import annotations

import time

import pytest

from recollect.observer.events import ActionType, ToolCall
from recollect.observer.shell import read_line
from recollect.observer.tool_calls import all_commands, command_words, read_tool_call


def run(line: str, **more: object) -> ToolCall:
    return read_tool_call("Bash", {"command": line, **more}, "/repo")


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("cd src && sed -i 's/a/b/' one.go two.go 2>&1 | tail -3", ("src/one.go", "src/two.go")),
        ("sed -i '' -e 's/a/b/' x.py", ("x.py",)),
        ("sed -n 1,20p x.py", ()),
        ("perl -pi -e 's/a.b/c.d/' lib/x.pm", ("lib/x.pm",)),
        ("cat > notes.md <<'EOF'\nrm other.md > more.md\nEOF\necho x >> log.txt", ("notes.md", "log.txt")),
        ("(cd a && touch b.txt); touch c.txt", ("a/b.txt", "c.txt")),
        ("pushd a && touch b.txt; popd; touch c.txt", ("a/b.txt", "c.txt")),
        ("go test ./... 2>/dev/null > /dev/null", ()),
        ("git mv old.py new.py && git rm -q gone.py", ("old.py", "new.py", "gone.py")),
        ("git checkout main -- a.py && git checkout other", ("a.py",)),
        ("git restore --staged a.py", ()),
        ("git -C sub add a.py", ("sub/a.py",)),
        ('git add \\\n a.py \\\n b.py && git commit -m "$(cat <<\'EOF\'\nit\'s c.py > d.py\nEOF\n)"', ("a.py", "b.py")),
        ('git commit -m "touch x.py" y.py', ("y.py",)),
        ("mv a.txt docs/", ("a.txt", "docs/a.txt")),
        ("cp -r x.cfg y.cfg", ("y.cfg",)),
        ("for f in a.go b.go; do gofmt -w \"$f\"; done", ("a.go", "b.go")),
        ("npx prettier --write src/a.ts && npx prettier --check src/b.ts", ("src/a.ts",)),
        ("uv run ruff format pkg/a.py; uv run ruff check pkg/b.py", ("pkg/a.py",)),
        ("bash -lc 'cd web && echo x > y.css'", ("web/y.css",)),
        ("python3 - <<'EOF'\np = 'src/a.py'\ns = open(p).read().replace('b.py', 'c.py')\nopen(p, 'w').write(s)\nEOF",
         ("src/a.py",)),
        ("python3 -c \"print(open('src/a.py').read())\"", ()),
        ("git apply <<'EOF'\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\nEOF", ("x.c",)),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a/b.rs\n@@\n-x\n+y\n*** End Patch\nEOF", ("a/b.rs",)),
        ("echo hi | tee -a out.log", ("out.log",)),
        ("cd $SOMEWHERE && touch x.txt", ()),
        ("cd /elsewhere && touch x.txt", ()),
        ("cd /repo/sub && touch x.txt", ("sub/x.txt",)),
        ("rm -rf dist && npm run build", ()),
        ("grep -w foo a.py", ()),
    ],
)  # fmt: skip
def test_the_files_a_line_changes_are_seen_and_no_others(line: str, changed: tuple[str, ...]) -> None:
    assert run(line).changed == changed


def test_a_line_that_only_writes_is_an_edit_and_one_that_also_runs_something_is_not() -> None:
    assert run("cat > a.py <<'EOF'\nx\nEOF").action is ActionType.EDIT
    tested = run("cat > a.py <<'EOF'\nx\nEOF\npytest a.py")
    assert (tested.action, tested.changed) == (ActionType.RUN, ("a.py",))
    assert run("cd sub && cat x.py").paths == ("sub/x.py",)


def test_a_command_runs_where_its_call_or_its_line_says() -> None:
    assert run("npm test", workdir="web").folder == "web"
    assert run("cd web && npm test").folder == ""
    assert run("npm test", cwd="/repo/web").folder == "web"
    assert read_tool_call("Bash", {"command": "touch x.js"}, "/repo", folder="/repo/web").changed == ("web/x.js",)


def test_a_patch_inside_a_script_that_calls_tools_is_an_edit_and_its_commands_are_commands() -> None:
    patch = (
        'const p = "*** Begin Patch\\n*** Update File: a/b.go\\n@@\\n-x\\n*** End Patch"; await tools.apply_patch(p)'
    )
    assert read_tool_call("exec", patch, ".").changed == ("a/b.go",)
    script = (
        'const r = await tools.exec_command({\n  cmd: "gofmt -w \\"a b.go\\" c.go",\n  workdir: "src"});\ntext(r=>r)'
    )
    called = read_tool_call("exec", script, ".")
    assert (called.subject, called.changed) == ('gofmt -w "a b.go" c.go', ("src/a b.go", "src/c.go"))
    assert read_tool_call("exec", "await tools.wait({}); rs.map(x=>text(x))", ".").changed == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "action", "changed"),
    [
        ("replace_string_in_file", {"filePath": "/repo/a.ts", "oldString": "x"}, ActionType.EDIT, ("a.ts",)),
        ("fsWrite", {"path": "a.ts", "text": "b.ts"}, ActionType.EDIT, ("a.ts",)),
        ("NotebookEdit", {"notebook_path": "/repo/n.ipynb"}, ActionType.EDIT, ("n.ipynb",)),
        ("edit_files", {"edits": [{"target_file": "a.py"}, {"target_file": "b.py"}]}, ActionType.EDIT,
         ("a.py", "b.py")),
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch"}, ActionType.EDIT,
         ("a.md",)),
        ("apply_diff", {"path": "a.c", "diff": "@@"}, ActionType.EDIT, ("a.c",)),
        ("mcp__serena__replace_symbol_body", {"relative_path": "a.py", "body": "b.py"}, ActionType.EXTERNAL, ("a.py",)),
        ("mcp__ide__write_file", {"uri": "file:///repo/a.py"}, ActionType.OTHER, ()),
        ("mcp__github__create_or_update_file", {"owner": "o", "repo": "r", "path": "a.py"}, ActionType.EXTERNAL, ()),
        ("open_document", {"uri": "file:///repo/a.py"}, ActionType.READ, ()),
        ("create_issue", {"title": "x", "body": "a.py"}, ActionType.OTHER, ()),
    ],
)  # fmt: skip
def test_the_arguments_of_any_editor_are_read_by_what_they_mean(
    tool: str, arguments: dict[str, object], action: ActionType, changed: tuple[str, ...]
) -> None:
    call = read_tool_call(tool, arguments, "/repo")
    assert (call.action, call.changed) == (action, changed)


def test_settings_redirections_and_what_only_runs_a_command_are_not_its_words() -> None:
    assert command_words("cd x && FOO=1 timeout 60 npm test 2>&1 | tail -5") == ("npm", "test")
    assert all_commands("if curl -s x; then echo; fi")[0] == ["curl", "-s", "x"]


@pytest.mark.parametrize("line", ['"$(' * 4000, "$(" * 8000, "<<A " * 4000, "a{b,c}" * 2000, "'" * 9000, "(" * 9000,
                                  "x=1;" * 4000, "cat <<E\n" * 2000, "\\" * 9000])  # fmt: skip
def test_no_line_takes_long_or_raises(line: str) -> None:
    began = time.perf_counter()
    read_line(line)
    assert time.perf_counter() - began < 0.2
