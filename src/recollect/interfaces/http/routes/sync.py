"""Routes for copies of these memories on other machines: what changed here, and what changed there."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from recollect.interfaces.http import WRITE
from recollect.interfaces.http.endpoint import Body, Call, Count, Endpoint, Json, Params
from recollect.interfaces.shapes.sync import ChangesShape, GreetingShape, ResultsShape, SyncBatchShape
from recollect.sync.wire import MAX_RECORDS, read_record

_TAG = "sync"
_BATCH_SECONDS = 120.0  # that a batch may take to apply


class ChangesParams(Params):
    version: Annotated[Count, Field(description="Of the protocol.")] = 1
    after: Annotated[Count, Field(ge=0, le=2**62, description="The position after which changes are wanted.")] = 0
    anchor: Annotated[str, Field(max_length=100, description="The hash that came with that position.")] = ""


class ChangesBody(Body):
    """A batch of changes. Sent again under the same name it is not applied again."""

    version: int
    batch: Annotated[str, Field(max_length=60)]
    records: Annotated[list[dict[str, Any]], Field(max_length=MAX_RECORDS)]
    confirmed: Annotated[bool, Field(description="A person allowed its deletions, however many.")] = False


def greet_copy(call: Call) -> Json:
    """Which versions of the protocol are spoken here, whose memories these are, and the time."""
    return call.memory.sync.serve(is_person=call.is_person).hello()


def list_sync_changes(call: Call) -> Json:
    """What changed after a position of the log, a page at a time. A position of another log starts over."""
    asked = call.query
    return call.memory.sync.serve(is_person=call.is_person).pull(
        asked.after, asked.anchor, version=asked.version
    ).told()  # fmt: skip


def apply_sync_batch(call: Call) -> Json:
    """Apply a batch of changes from a copy; the answer says of each record what became of it."""
    sync, body = call.memory.sync, call.body
    records = [read_record(one) for one in body.records]
    server = sync.serve(is_person=call.is_person)
    results = server.push(body.batch, records, version=body.version, confirmed=body.confirmed)
    sync.scrub()
    return {"results": [one.told() for one in results]}


def close_sync_batch(call: Call) -> Json:
    """What became of a batch whose answer was lost. One that has not arrived is refused from now on."""
    return {"applied": call.memory.sync.serve(is_person=call.is_person).close_batch(call.path["batch"])}


ENDPOINTS = (
    Endpoint("GET", "/sync", greet_copy, WRITE, GreetingShape, _TAG),
    Endpoint("GET", "/sync/changes", list_sync_changes, WRITE, ChangesShape, _TAG, query=ChangesParams,
             compressed=True),
    Endpoint("POST", "/sync/changes", apply_sync_batch, WRITE, ResultsShape, _TAG, body=ChangesBody, compressed=True,
             seconds=_BATCH_SECONDS),
    Endpoint("POST", "/sync/batches/{batch}", close_sync_batch, WRITE, SyncBatchShape, _TAG),
)  # fmt: skip
