"""Nobody comes in without a token or a cookie, from another host's name or another site's page."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from interfaces.http.conftest import HOST, Served, code_of
from recollect.core.errors import InvalidField, TokenNotFound, UnsafeFile
from recollect.interfaces.http.access import CODE_SECONDS, AccessFile
from recollect.interfaces.http.guard import MAX_BODY


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer x", "Basic rcl_x", "Code x", "rcl_x", "Bearer rcl_" + "a" * 43]
)
def test_a_wrong_token_is_refused_before_anything_else_is_looked_at(served: Served, given: str) -> None:
    for path in ("/v1/memories", "/v1/nothing/there", "/v1", "/mcp", "/v1/events"):
        answer = served.client.post(path, content=b"not json", headers={"Authorization": given} if given else {})
        assert answer.status_code == 401, path
        assert code_of(answer) == "token-missing"


def test_a_token_sent_twice_is_nobodys(served: Served) -> None:
    token = served.token()["Authorization"]
    answer = served.client.get("/v1/memories", headers=[("Authorization", token), ("Authorization", token)])
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:7737.evil.example", "localhost:7737", "", "[::1]:7737"],
)
def test_a_name_that_is_not_ours_is_refused(served: Served, host: str) -> None:
    for path in ("/v1/memories", "/", "/v1/session"):
        answer = served.client.get(path, headers={**served.token("read"), "Host": host})
        assert answer.status_code == 421
        assert code_of(answer) == "host-refused"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:7737", "http://127.0.0.1:1", "http://127.0.0.1"]
)
def test_a_page_of_another_site_is_refused_with_token_and_with_cookie(served: Served, origin: str) -> None:
    for method in ("GET", "POST"):
        answer = served.client.request(method, "/v1/memories", headers={**served.token(), "Origin": origin})
        assert code_of(answer) == "origin-refused"
    served.log_in()
    assert code_of(served.client.get("/v1/memories", headers={"Origin": origin})) == "origin-refused"


def test_a_cookie_changes_nothing_unless_our_own_page_sends_it(served: Served) -> None:
    served.log_in()
    body = {"content": "Granite is hard."}
    del served.client.headers["Origin"]
    assert served.client.get("/v1/memories").status_code == 200
    assert code_of(served.client.post("/v1/memories", json=body)) == "origin-refused"
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert code_of(served.client.get("/v1/memories", headers=elsewhere)) == "origin-refused"
    assert served.client.post("/v1/memories", json=body, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 201


def test_a_link_on_another_site_may_lead_to_the_panel_but_not_into_the_api(served: Served) -> None:
    linked = {"Sec-Fetch-Site": "cross-site"}
    assert served.client.get("/", headers=linked).status_code == 200
    assert served.client.post("/v1/session", headers=linked).status_code == 403


def test_a_code_opens_the_panel_once_for_its_own_store(served: Served) -> None:
    other = served.access.make_code("another store")
    assert served.client.post("/v1/session", headers={"Authorization": f"Code {other}"}).status_code == 401
    code = served.access.make_code("key")
    answer = served.client.post("/v1/session", headers={"Authorization": f"Code {code}"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("recollect-7737=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    again = served.client.post("/v1/session", headers={"Authorization": f"Code {code}"})
    assert again.status_code == 401


def test_a_session_outlives_a_restart_and_ends_with_logging_out(served: Served, tmp_path: Path) -> None:
    served.log_in()
    session = served.client.cookies["recollect-7737"]
    assert AccessFile(str(tmp_path / "access")).by_session(session, "key") is not None
    assert AccessFile(str(tmp_path / "access")).by_session(session, "another store") is None
    assert served.client.delete("/v1/session").status_code == 204
    assert AccessFile(str(tmp_path / "access")).by_session(session, "key") is None


def test_a_code_is_worth_nothing_after_a_few_minutes(tmp_path: Path) -> None:
    now = [1_000.0]
    access = AccessFile(str(tmp_path / "a"), clock=lambda: now[0])
    code = access.make_code("key")
    now[0] += CODE_SECONDS + 1
    assert access.take_code(code, "key") is None


def test_secrets_are_kept_as_digests_in_a_file_of_the_person_alone(tmp_path: Path) -> None:
    access = AccessFile(str(tmp_path / "a"))
    token, code = access.make_token("bot", scope="read", is_persons=False), access.make_code("key")
    file = tmp_path / "a" / "access.json"
    text = file.read_text()
    assert token not in text
    assert code not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    os.chmod(file, 0o644)
    with pytest.raises(UnsafeFile):
        AccessFile(str(tmp_path / "a")).by_token(token)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"tokens": 3}', '{"tokens": [1, {"digest": 5}]}', "\0"])
def test_a_broken_file_lets_nobody_in(tmp_path: Path, content: str) -> None:
    access = AccessFile(str(tmp_path / "a"))
    token = access.make_token("bot", scope="read", is_persons=False)
    (tmp_path / "a" / "access.json").write_text(content)
    assert access.by_token(token) is None


def test_a_revoked_token_is_refused_at_once(served: Served) -> None:
    headers = served.token("read")
    assert served.client.get("/v1/memories", headers=headers).status_code == 200
    served.access.revoke("read 0")
    assert served.client.get("/v1/memories", headers=headers).status_code == 401
    with pytest.raises(TokenNotFound):
        served.access.revoke("read 0")


def test_a_tokens_name_is_its_own_and_plain(tmp_path: Path) -> None:
    access = AccessFile(str(tmp_path / "a"))
    access.make_token("bot", scope="read", is_persons=False)
    for name in ("bot", "", "a\nb", " x", "x" * 61, "\u202ebot"):
        with pytest.raises(InvalidField):
            access.make_token(name, scope="read", is_persons=False)


def test_a_scope_lets_through_what_it_includes_and_no_more(served: Served) -> None:
    body = {"content": "Granite is hard."}
    reader = served.token("read")
    assert served.client.get("/v1/memories", headers=reader).status_code == 200
    refused = served.client.post("/v1/memories", json=body, headers=reader)
    assert (refused.status_code, code_of(refused)) == (403, "scope-missing")
    assert served.client.post("/v1/memories", json=body, headers=served.token("admin")).status_code == 201


def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_what_comes(served: Served) -> None:
    headers = {**served.token(), "Content-Type": "application/json"}
    whole = json.dumps({"content": "x" * MAX_BODY}).encode()
    assert served.client.post("/v1/memories", content=whole, headers=headers).status_code == 413
    parts = (whole[start : start + 65_536] for start in range(0, len(whole), 65_536))  # without a length
    assert served.client.post("/v1/memories", content=parts, headers=headers).status_code == 413


def test_every_answer_is_strict_with_browsers(served: Served) -> None:
    answers = [
        served.client.get("/"),
        served.client.get("/v1/memories", headers=served.token("read")),
        served.client.get("/v1/memories"),
        served.client.get("/v1/memories", headers={"Host": "evil.example"}),
        served.client.get("/nothing.js"),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    assert answers[1].headers["cache-control"] == "no-store"


def test_the_panels_files_are_served_from_their_folder_only(served: Served, tmp_path: Path) -> None:
    missing = served.client.get("/")
    assert "not part of this installation" in missing.text
    assert served.client.get("/memories/deep/link").status_code == 404
    panel = tmp_path / "panel"
    (panel / "assets").mkdir(parents=True)
    (panel / "index.html").write_text("<!doctype html><title>panel</title>")
    (panel / "assets" / "app.js").write_text("1")
    (tmp_path / "secret.txt").write_text("treasure")
    (panel / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert "panel" in served.client.get("/").text
    assert "panel" in served.client.get("/memories/deep/link").text
    assert "immutable" in served.client.get("/assets/app.js").headers["cache-control"]
    for path in (
        "/link.txt",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "//etc/passwd.txt",
    ):
        answer = served.client.get(path)
        assert "treasure" not in answer.text, path
        assert answer.status_code == 404, path


def test_our_own_host_is_known_in_any_case(served: Served) -> None:
    assert served.client.get("/v1/memories", headers={**served.token("read"), "Host": HOST.upper()}).status_code == 200


def test_a_token_that_is_not_known_is_told_apart_from_none(served: Served) -> None:
    none = served.client.get("/v1/memories").json()
    wrong = served.client.get("/v1/memories", headers={"Authorization": "Bearer rcl_nobody"}).json()
    assert (none["code"], wrong["code"]) == ("token-missing", "token-missing")
    assert "not known" in wrong["detail"]
    assert "not known" not in none["detail"]


def test_a_misspelt_name_is_named_and_not_the_one_that_is_missing_for_it(served: Served) -> None:
    answer = served.client.post("/v1/memories", json={"contents": "Granite is hard."}, headers=served.token())
    assert answer.json()["detail"] == "contents: there is no such field."
