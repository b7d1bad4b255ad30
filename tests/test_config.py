"""Settings: whose file may choose what."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recollect
from recollect.config import REPOSITORY_MAY, Settings, load_settings
from recollect.core.errors import InvalidField
from recollect.files.project import FOLDER, settings_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project" / FOLDER
    made.mkdir(parents=True)
    return made


def mine(text: str) -> None:
    os.makedirs(settings_folder(), exist_ok=True)
    (Path(settings_folder()) / "config.toml").write_text(text)


HOSTILE = [
    ("embedder", '"http://evil.example/v1#m"'),
    ("embedder", '"ollama"'),
    ("embedder", '"auto"'),
    ("reranker", '"http://evil.example/v1#m"'),
    ("reranker", '"onnx"'),
    ("model", '"http://evil.example/v1#m"'),
    ("model", '"pydantic-ai:test"'),
    ("names", '"llm"'),
    ("names", '"spacy+llm"'),
    ("memory", '"a_plugin"'),
    ("methodology", '"a_plugin"'),
    ("actor", '"the owner"'),
    ("tokens_per_day", "200001"),
    ("tokens_per_session", "50001"),
    ("model_timeout", "86399"),
    ("busy_timeout", "3600"),
    ("semantic_recall", '"on"'),
    ("trust_level", '"autonomous"'),
    ("model", "[1, 2]"),
]


@pytest.mark.parametrize(("name", "value"), HOSTILE)
def test_a_repository_cannot_choose_what_sends_runs_or_raises(folder: Path, name: str, value: str) -> None:
    (folder / "config.toml").write_text(f'{name} = {value}\nrecipe = "seed"\n')
    loaded = load_settings(folder, {})
    assert loaded.settings == Settings(recipe="seed")
    assert [ignored for ignored, _ in loaded.ignored] == [name]
    assert name in loaded.notice
    assert settings_folder() in loaded.notice


@pytest.mark.parametrize(
    "documents",
    [
        'roots = ["../other"]',
        'roots = ["/"]',
        'roots = ["~"]',
        'roots = ["docs/../.."]',
        'roots = ["linked"]',
        'roots = ["linked/below"]',
        'roots = ["docs", 3]',
        'roots = ["c:\\\\x"]',
        'specs = "../specs"',
        'detector = "model"',
        "plugin = 3",
    ],
)
def test_a_repository_cannot_lead_out_of_the_project(folder: Path, documents: str) -> None:
    (folder.parent / "linked").symlink_to(folder.parent.parent)
    (folder / "config.toml").write_text(f'[documents]\n{documents}\npreset = "cyberk-flow"\n')
    loaded = load_settings(folder, {})
    assert loaded.settings.documents == {"preset": "cyberk-flow"}
    assert loaded.ignored[0][0].startswith("documents.")


def test_a_repository_may_choose_less(folder: Path) -> None:
    text = 'embedder = "none"\ntokens_per_day = 5\nmodel_timeout = 1\nnames = "rules"\nmethodology = "bmad"\n'
    (folder / "config.toml").write_text(f'{text}[documents]\nroots = ["docs", "notes/new"]\nignore = ["x"]\n')
    loaded = load_settings(folder, {})
    assert loaded.ignored == ()
    assert loaded.notice == ""
    assert loaded.settings.tokens_per_day == 5
    assert loaded.settings.documents["roots"] == ["docs", "notes/new"]


def test_the_persons_own_file_and_the_environment_choose_everything(folder: Path) -> None:
    mine('model = "ollama:m"\ntokens_per_day = 900000\n[documents]\ndetector = "model"\nroots = ["../shared"]\n')
    (folder / "config.toml").write_text('tokens_per_day = 800000\nmodel = "none"\n[documents]\nignore = ["x"]\n')
    settings = load_settings(folder, {"RECOLLECT_EMBEDDER": "ollama"}).settings
    assert (settings.model, settings.embedder, settings.tokens_per_day) == ("none", "ollama", 800_000)
    assert settings.documents == {"detector": "model", "roots": ["../shared"], "ignore": ["x"]}


def test_a_person_may_keep_their_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text('model = "ollama:m"\n')
    os.makedirs(settings_folder())
    (Path(settings_folder()) / "config.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert load_settings(None, {}).settings.model == "ollama:m"


def test_a_folder_of_the_person_is_never_relative_to_where_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    assert settings_folder() == str(tmp_path / "person" / ".config" / "recollect")


@pytest.mark.parametrize("kind", ["link", "fifo", "device", "huge", "deep"])
def test_a_settings_file_that_is_none_is_refused_at_once(folder: Path, tmp_path: Path, kind: str) -> None:
    file = folder / "config.toml"
    match kind:
        case "link":
            (tmp_path / "secret").write_text('recipe = "seed"\n')
            file.symlink_to(tmp_path / "secret")
        case "fifo":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "huge":
            file.write_text("#" * 300_000)
        case "deep":
            file.write_text("recipe = " + "[" * 100_000)
    with pytest.raises(InvalidField, match=r"config\.toml"):
        load_settings(folder, {})


def test_every_setting_has_an_owner() -> None:
    """A setting that is added and not listed is the person's alone; this says which those are."""
    assert set(Settings.__dataclass_fields__) - set(REPOSITORY_MAY) == {
        "actor",
        "documents",
        "replica_dsn",
        "sync_server",
        "sync_token",
        "sync_mode",
    }


def test_an_open_memory_says_what_was_ignored(folder: Path) -> None:
    (folder / "config.toml").write_text('model = "http://evil.example/v1#m"\n')
    with recollect.open(folder.parent) as memory:
        assert "model" in memory.notices[0]


def test_a_root_that_became_a_link_is_not_indexed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret.md").write_text("# Secret\n\nnothing to see\n")
    (folder.parent / "docs").mkdir()
    (folder / "config.toml").write_text('[documents]\nroots = ["docs"]\n')
    with recollect.open(folder.parent) as memory:
        (folder.parent / "docs").rmdir()
        (folder.parent / "docs").symlink_to(tmp_path / "private")
        with pytest.raises(InvalidField, match="link"):
            memory.docs.index()
