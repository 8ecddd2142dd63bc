# SPDX-License-Identifier: BSD-3-Clause
"""Long work in threads, with a bar, which Ctrl-C ends at once.

The core plans without the interpreter's lock, and a plan can take seconds: a thread that is in one
cannot be stopped. So nobody waits for the threads then, and the program ends beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from tonari import output

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2


class Interrupted(Exception):
    """Ctrl-C, and what is left out by it. The program must end: threads may still be at work."""


def run(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    doing: str,
    left_out: Callable[[int], str],
    finish: Callable[[Item, Result], None] = lambda item, result: None,
) -> list[Result]:
    """What `work` makes of each item, in their order. finish: called on this thread with each.

    doing     says what goes on, before the bar; no bar if it is empty
    left_out  says in one sentence what is missing, given how many items are not finished
    """
    tasks: SimpleQueue[int] = SimpleQueue()
    for index in range(len(items)):
        tasks.put(index)
    done: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()

    def serve() -> None:
        while True:
            try:
                index = tasks.get_nowait()
            except Empty:
                return
            try:
                done.put((index, work(items[index]), None))
            except BaseException as error:  # noqa: BLE001 - the other thread raises it
                done.put((index, None, error))

    threads = [Thread(target=serve, daemon=True) for _ in range(min(THREADS, len(items)))]
    results: dict[int, Result] = {}
    try:
        with output.progress(doing, len(items)) as advance:
            for thread in threads:
                thread.start()
            while len(results) < len(items):
                index, result, error = done.get()
                if error is not None:
                    _end(tasks, threads)
                    raise error
                finish(items[index], result)  # type: ignore[arg-type]
                results[index] = result  # type: ignore[assignment]
                advance()
    except KeyboardInterrupt:
        raise Interrupted(left_out(len(items) - len(results))) from None
    return [results[index] for index in range(len(items))]


def _end(tasks: SimpleQueue[int], threads: Sequence[Thread]) -> None:
    """No more tasks, and the threads end."""
    while not tasks.empty():
        try:
            tasks.get_nowait()
        except Empty:
            break
    for thread in threads:
        thread.join()
