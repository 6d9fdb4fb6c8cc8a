"""The bounded pool of worker threads for plain functions.

A cancelled call keeps its thread until the function returns (nothing can stop a thread), its result is dropped, and
the function can see it coming through ``ctx.cancelled``.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["WorkerThreads"]


class WorkerThreads:
    """Threads of our own, started when first needed.

    Args:
        max_threads: How many functions may run at once; more wait. By default 4 for each core and 8 more, at most 64.
    """

    def __init__(self, max_threads: int | None = None) -> None:
        self._max_threads = max_threads or min(64, 4 * (os.cpu_count() or 1) + 8)
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, function: Callable[[], Any]) -> Any:
        """Call a function in a worker thread, with the caller's context variables."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._max_threads, thread_name_prefix="mesero")
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, function)

    def close(self) -> None:
        """Start nothing more; running functions are left to end by themselves."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
