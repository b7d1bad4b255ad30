"""A few threads for a model. They are daemons: an answer nobody waits for any more must not keep a process alive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")


def each(act: Callable[[Item], None], items: Iterable[Item], *, most: int) -> None:
    """`act` on every item, up to `most` at a time. After the first failure no further item is begun; it is raised."""
    waiting: SimpleQueue[Item] = SimpleQueue()
    count = 0
    for item in items:
        waiting.put(item)
        count += 1
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not failures:
                act(waiting.get_nowait())
        except Empty:
            return
        except BaseException as error:  # carried over to the caller, whatever it is
            failures.append(error)

    threads = [Thread(target=work, name="model", daemon=True) for _ in range(min(most, count) - 1)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
