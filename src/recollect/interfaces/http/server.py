"""Running the server: a socket on this machine, jobs while it is up, an end that loses nothing."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address

import uvicorn

from recollect.app import Recollect
from recollect.core.doors import PANEL
from recollect.core.errors import InvalidField, RecollectError
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.app import Application
from recollect.interfaces.http.background import ServerNote, store_key
from recollect.interfaces.http.protocol import ImpatientProtocol
from recollect.interfaces.http.stores import ServedStores
from recollect.wiring import PERSONAL
from recollect.wiring import open as open_memory

LOOPBACK = "127.0.0.1"
USUAL_PORT = 7737
_LAST_PORT = 65_535
_GRACE = 5  # seconds that requests may take to end when we are told to stop
_KEEP_ALIVE = 15  # seconds a connection may idle between two requests
_MAX_HEADERS = 32_768  # bytes before a body
_TEND_EVERY = 60.0  # seconds between two looks at what is due
_TEND_SECONDS = 30.0  # that one look may work


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What the person chose."""

    store: str | None = None
    host: str = LOOPBACK
    port: int | None = None  # nothing: the one this store had before, the usual one, or any that is free
    names: tuple[str, ...] = ()  # other names that the server goes by
    cert: str | None = None
    key: str | None = None
    read_only: bool = False
    tend: bool = True
    actor: str | None = None

    @property
    def tls(self) -> bool:
        return self.cert is not None


def run_server(options: ServerOptions, *, ready: Callable[[str], None]) -> None:
    """Serve one store until told to stop. `ready` gets the address before the first request is taken."""
    _check(options)
    memory = open_memory(
        options.store,
        create=False,
        read_only=options.read_only,
        actor=options.actor,
        door=PANEL.name,
        personal=True,
    )
    stores = ServedStores(memory, partial(_open_personal, options))
    try:
        key = store_key(options.store)
        with listen(options, ServerNote.read(key)) as listening:
            _run(options, stores, listening, key, ready)
    finally:
        stores.close()


def _open_personal(options: ServerOptions) -> Recollect:
    return open_memory(
        PERSONAL, create=not options.read_only, read_only=options.read_only, actor=options.actor, door=PANEL.name
    )


def _check(options: ServerOptions) -> None:
    if (options.cert is None) != (options.key is None):
        raise InvalidField("tls", "a certificate and its key belong together", hint="Give --tls-cert and --tls-key.")
    if not _is_loopback(options.host) and not options.tls:
        raise InvalidField(
            "host",
            f"{options.host} can be reached from outside",
            hint="Give --tls-cert and --tls-key, or leave it out.",
        )
    if options.host in ("0.0.0.0", "::") and not options.names:
        raise InvalidField("host", f"{options.host} is no name", hint="Say with --name what the server is called.")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(options: ServerOptions, note: ServerNote | None) -> socket.socket:
    """A socket. The port that was asked for, or else the first of those that suit which is free."""
    wanted = [options.port] if options.port is not None else [note.port if note else USUAL_PORT, USUAL_PORT, 0]
    host = options.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    trouble: OSError | None = None
    for port in wanted:
        if not 0 <= port <= _LAST_PORT:
            raise InvalidField("port", f"{port} is no port", hint=f"Use 1 to {_LAST_PORT}, or 0 for any free one.")
        try:
            listening = socket.create_server((host, port), family=family)
        except OSError as error:
            trouble = error
            continue
        # Connections inherit it. asyncio does not set it here, and answers would wait 40 ms for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    raise InvalidField("port", f"{host}:{wanted[-1]} cannot be listened on: {trouble}") from None


def _names(options: ServerOptions, listening: socket.socket) -> Sequence[str]:
    """The hosts that requests may name, the first of them for people."""
    port = listening.getsockname()[1]
    shown = f"[{options.host}]" if ":" in options.host else options.host
    own = [*options.names, *([] if options.host in ("0.0.0.0", "::") else [shown])]
    if _is_loopback(options.host):
        own += [LOOPBACK, "localhost", "[::1]"]
    return [f"{name}:{port}" for name in dict.fromkeys(own)] + [
        name for name in own if port == (443 if options.tls else 80)
    ]


def _run(
    options: ServerOptions,
    stores: ServedStores,
    listening: socket.socket,
    key: str,
    ready: Callable[[str], None],
) -> None:
    hosts = _names(options, listening)
    url = f"{'https' if options.tls else 'http'}://{hosts[0]}/"
    application = Application(stores, AccessFile(), key=key, hosts=hosts, tls=options.tls)
    config = make_config(application, cert=options.cert, key=options.key)
    jobs = Tender(stores.project) if options.tend and not options.read_only else None
    note = ServerNote.write(key, url=url, port=listening.getsockname()[1])
    try:
        if jobs is not None:
            jobs.start()
        ready(url)
        with _ending_well():
            StoppableServer(config, application).run(sockets=[listening])
    finally:
        if jobs is not None:
            jobs.stop()
        note.end()


def make_config(application: Application, *, cert: str | None = None, key: str | None = None) -> uvicorn.Config:
    """How uvicorn runs the application: quiet, strict, and no more patient than it must be."""
    return uvicorn.Config(
        application.asgi(),
        http=ImpatientProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=_MAX_HEADERS,
        ssl_certfile=cert,
        ssl_keyfile=key,
    )


@contextmanager
def _ending_well() -> Iterator[None]:
    """Being told to end is no reason to leave anything undone: after the last answer it comes as an exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise _Told

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _Told:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


class _Told(BaseException):
    """The process was told to end."""


class StoppableServer(uvicorn.Server):
    """Ends event streams before it waits for requests to end."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self._application = application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.stopping.set()
        await super().shutdown(sockets)


class Tender(threading.Thread):
    """Does what is due while the server is up. Trouble is told and tried again."""

    def __init__(self, memory: Recollect, *, every: float = _TEND_EVERY) -> None:
        super().__init__(name="tend", daemon=True)
        self._memory = memory
        self._every = every
        self._ended = threading.Event()

    def run(self) -> None:
        told = ""
        while not self._ended.wait(self._every):
            try:
                self._memory.tend(seconds=_TEND_SECONDS)
                told = ""
            except RecollectError as error:
                if str(error) != told:
                    told = str(error)
                    sys.stderr.write(f"recollect: jobs wait: {told}\n")

    def stop(self) -> None:
        """Let the job that runs end, within the time it may take."""
        self._ended.set()
        self.join(_TEND_SECONDS)
