"""The bounded pool of worker threads for plain functions.

A cancelled call keeps its thread until the function returns (nothing can stop a thread), its result is
dropped, and the function can see it coming through ``ctx.cancelled``.

The threads are daemons, unlike those of ``concurrent.futures``: a function that never returns must not keep a
process alive whose client has gone.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["WorkerThreads"]

_Job = tuple["Future[Any]", Callable[[], Any]]


class WorkerThreads:
    """Threads of our own, started when first needed.

    Args:
        max_threads: How many functions may run at once; more wait. By default 4 for each core and 8 more, at
            most 64.
    """

    def __init__(self, max_threads: int | None = None) -> None:
        self._max_threads = max_threads or min(64, 4 * (os.cpu_count() or 1) + 8)
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._started = 0

    async def run(self, function: Callable[[], Any]) -> Any:
        """Call a function in a worker thread, with the caller's context variables."""
        context = contextvars.copy_context()
        future: Future[Any] = Future()
        with self._lock:
            self._jobs.put((future, lambda: context.run(function)))
            if not self._idle.acquire(blocking=False) and self._started < self._max_threads:
                self._start_thread()
        return await asyncio.wrap_future(future)

    def _start_thread(self) -> None:
        self._started += 1
        thread = threading.Thread(
            target=_work, args=(self._jobs, self._idle), name=f"mesero-{self._started}", daemon=True
        )
        thread.start()

    def close(self) -> None:
        """Start nothing more of what waits; running functions are left to end by themselves."""
        with self._lock:
            jobs, started = self._jobs, self._started
            self._jobs, self._idle, self._started = SimpleQueue(), threading.Semaphore(0), 0
        while True:
            try:
                job = jobs.get_nowait()
            except Empty:
                break
            if job is not None:
                job[0].cancel()
        for _ in range(started):
            jobs.put(None)


def _work(jobs: SimpleQueue[_Job | None], idle: threading.Semaphore) -> None:
    """What one thread does until it is told to end."""
    while (job := jobs.get()) is not None:
        _do(*job, idle)
        del job  # What the function returned must not live until the next one comes.


def _do(future: Future[Any], function: Callable[[], Any], idle: threading.Semaphore) -> None:
    if not future.set_running_or_notify_cancel():
        idle.release()
        return
    result: Any = None
    failure: BaseException | None = None
    try:
        result = function()
    except StopIteration as error:
        # No future can carry it: whoever waits would wait for ever.
        failure = RuntimeError("the function raised StopIteration")
        failure.__cause__ = error
    except BaseException as error:  # noqa: BLE001  (whatever it is belongs to the one who waits)
        failure = error
    # Before anybody hears of the result: who does may have the next job already.
    idle.release()
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
