"""`recollect models`: list, install and path, for people and programs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from embed.embed_tools import pack_of, put, vocabulary
from recollect.core.errors import RecollectError, UnknownChoice
from recollect.embed.port import PackNotFetched
from recollect.interfaces.cli import install
from recollect.interfaces.cli.console import FINE, FOUND, Console

WEIGHTS = b"weights" * 1000


class Shell:
    """Runs the command with a single small pack on offer."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys

    def __call__(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        parser.add_argument("--json", action="store_true")
        install.arguments_models(parser)
        args = parser.parse_args(words)
        code = install.run_models(args, Console(json=args.json))
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *words: str) -> Any:
        self(*words, "--json")
        return json.loads(self.out)


@pytest.fixture
def sh(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    tiny = {"arctic": pack_of(WEIGHTS, name="arctic")}
    monkeypatch.setattr(install, "PACKS", tiny)
    monkeypatch.setenv("RECOLLECT_MODELS", str(tmp_path / "models"))
    return Shell(tmp_path / "models", capsys)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "model.safetensors").write_bytes(WEIGHTS)
    (tmp_path / "from" / "vocab.txt").write_bytes(vocabulary())
    return tmp_path / "from"


def test_a_pack_is_listed_as_missing_installed_and_listed_as_here(sh: Shell, origin: Path) -> None:
    assert sh() == FINE
    assert "missing" in sh.out
    assert "recollect models install" in sh.err
    assert sh("install", "--from", str(origin)) == FINE
    assert "installed and verified" in sh.out
    assert sh.json("list")["packs"][0]["state"] == "installed"


def test_install_tells_a_program_where_and_what(sh: Shell, origin: Path) -> None:
    told = sh.json("install", "arctic", "--from", str(origin))
    assert (told["state"], told["model"], told["path"]) == ("installed", "arctic-1", str(sh.folder / "arctic"))


def test_a_damaged_pack_is_found(sh: Shell) -> None:
    put(pack_of(WEIGHTS, name="arctic"), sh.folder, WEIGHTS[::-1])
    assert sh("list") == FOUND
    assert "damaged" in sh.out


def test_path_is_the_folder_whether_or_not_it_is_there(sh: Shell) -> None:
    assert sh("path") == FINE
    assert sh.out.strip() == str(sh.folder)
    assert sh("path", "arctic") == FINE
    assert sh.out.strip() == str(sh.folder / "arctic")
    assert "not installed" in sh.err
    assert sh.json("path", "arctic") == {"path": str(sh.folder / "arctic"), "installed": False}


@pytest.mark.parametrize(
    ("words", "error"), [(["install", "nonsense"], UnknownChoice), (["install", "--from", "nowhere"], PackNotFetched)]
)
def test_what_cannot_be_done_is_an_error_with_a_hint(sh: Shell, words: list[str], error: type[RecollectError]) -> None:
    with pytest.raises(error) as raised:
        sh(*words)
    assert raised.value.hint


def test_without_the_variable_packs_lie_in_the_persons_data_folder(
    sh: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECOLLECT_MODELS")
    sh("path")
    assert sh.out.strip() == str(home / "recollect" / "models")


def test_a_reranker_is_listed_beside_the_embedders_and_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = {"marco": pack_of(WEIGHTS, name="marco")}
    monkeypatch.setattr(install, "PACKS", tiny)
    monkeypatch.setenv("RECOLLECT_MODELS", str(tmp_path))
    put(tiny["marco"], tmp_path, WEIGHTS)
    sh = Shell(tmp_path, capsys)
    assert sh("install", "marco") == FINE
    assert 'reranker = "onnx:marco"' in sh.out
