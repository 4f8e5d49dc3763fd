"""Worker processes of this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import active_children

import pytest

from earwitness.engines.local import _hold_signals, processes


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C interrupts, also if the tests run in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def idle_thread() -> Iterator[None]:
    """Another thread, which receives the signals that the main thread blocks."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def interrupt_while_held(reached: list[str]) -> None:
    with _hold_signals():
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.05)
        reached.append("end")


@pytest.mark.parametrize("other_thread", [False, True])
def test_ctrl_c_is_held_until_the_end(other_thread: bool) -> None:
    reached: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with (
        idle_thread() if other_thread else nullcontext(),
        pytest.raises(KeyboardInterrupt),
    ):
        interrupt_while_held(reached)
    assert reached == ["end"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with idle_thread(), _hold_signals():
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(0.05)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_workers_end_leaves_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    shutdown = ProcessPoolExecutor.shutdown

    def interrupted(pool: ProcessPoolExecutor, **options: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        shutdown(pool, **options)

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", interrupted)
    with idle_thread(), pytest.raises(KeyboardInterrupt):
        list(processes(1)(abs, [-1]))
    assert active_children() == []
