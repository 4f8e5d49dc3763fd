"""Slow, silent and too many connections do not keep others from being served."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from earwitness.web import connections
from earwitness.web.connections import ConnectionTable, LimitedProtocol, LimitedServer, make_server
from earwitness.web.messages import REPEATS_PER_MINUTE, MessageLimiter

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LARGE_REQUEST = REQUEST.replace(b"/ ", b"/large ")
LARGE = bytes(32_000_000)  # more than the buffers of the system hold
SLOW = 0.3  # seconds for headers in these tests


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Read the body of a request, then reply, with a large body at /large."""
    while (await receive()).get("more_body"):
        pass
    body = LARGE if scope["path"] == "/large" else b"ok"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def running(server: LimitedServer) -> Iterator[int]:
    """Run a server in a thread; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join(20)
    assert not thread.is_alive()


@contextmanager
def limited(limit: int = 50, seconds: float = SLOW, **options: Any) -> Iterator[int]:
    messages = MessageLimiter()
    table = ConnectionTable(messages, limit, **options)
    with running(make_server(app, messages, table=table, header_seconds=seconds)) as port:
        yield port


def connect(stack: ExitStack, port: int, data: bytes = b"") -> socket.socket:
    """Open a connection and send data."""
    opened = stack.enter_context(socket.create_connection(("127.0.0.1", port), 20))
    opened.sendall(data)
    return opened


def reply(connection: socket.socket) -> bytes:
    """Return the next reply of the server; empty if it has closed the connection."""
    received = b""
    try:
        while not received.endswith(b"ok"):
            if not (part := connection.recv(1000)):
                break
            received += part
    except ConnectionResetError:
        return b""
    return received


def is_cut_off(connection: socket.socket, filler: bytes) -> bool:
    """Return whether the server closes a connection before it has received a gigabyte."""
    with suppress(ConnectionError):
        for _ in range(10_000):
            connection.sendall(filler * (100_000 // len(filler)))
        return False
    return True


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nX-A: ", b"\r\n"])
def test_a_connection_with_endless_headers_is_closed(start: bytes) -> None:
    with limited(seconds=60) as port, ExitStack() as stack:
        assert is_cut_off(connect(stack, port, start), start if start == b"\r\n" else b"a")


def test_a_request_with_too_many_headers_is_refused() -> None:
    headers = b"".join(b"X-%d: a\r\n" % number for number in range(connections.MAX_HEADERS + 1))
    with limited(seconds=60) as port, ExitStack() as stack:
        assert reply(connect(stack, port, REQUEST[:-2] + headers + b"\r\n")).startswith(
            b"HTTP/1.1 400"
        )


@pytest.mark.parametrize(
    "hosts",
    [
        b"",
        b"Host: a\r\nHost: a\r\n",
        b"Host: a\r\nhost: b\r\n",
        b"Host:\r\n",
        b"Host: a b\r\n",
        b"Host: a/b\r\n",
        b"Host: a@b\r\n",
        b"Host: a,b\r\n",
        b"Host: \xe4\r\n",
        b"Host: a:b\r\n",
        b"Host: [::1\r\n",
    ],
)
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_request_without_one_valid_host_is_refused(hosts: bytes, version: bytes) -> None:
    with limited(seconds=60) as port, ExitStack() as stack:
        request = b"GET / HTTP/" + version + b"\r\n" + hosts + b"\r\n"
        assert reply(connect(stack, port, request)).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("host", [b"a.b-c_d.:80", b"192.0.2.1:8000", b"[2001:db8::1]:8000"])
def test_a_request_to_a_host_by_name_or_number_is_served(host: bytes) -> None:
    with limited(seconds=60) as port, ExitStack() as stack:
        assert reply(
            connect(stack, port, b"GET / HTTP/1.1\r\nHOST: " + host + b"\r\n\r\n")
        ).startswith(b"HTTP/1.1 200")


def test_headers_after_the_body_are_ignored() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    trailers = b"".join(b"X-%d: a\r\n" % number for number in range(5000))
    with limited(seconds=60) as port, ExitStack() as stack:
        connection = connect(stack, port, head + trailers + b"\r\n" + REQUEST)
        assert reply(connection).endswith(b"ok")


def test_requests_sent_at_once_are_answered_in_turn_up_to_a_limit() -> None:
    with limited(seconds=60) as port, ExitStack() as stack:
        connection = connect(stack, port, REQUEST * 5)
        received = b""
        while received.count(b"HTTP/1.1 200") < 5:
            received += connection.recv(1000)
        many = connect(stack, port, REQUEST * 50)
        received = b""
        with suppress(ConnectionResetError):
            while part := many.recv(10_000):
                received += part
        assert received.count(b"HTTP/1.1 200") < 50
        assert reply(connect(stack, port, REQUEST)).endswith(b"ok")


def test_a_request_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_RECEIVED_BYTES", 200_000)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: "
    with limited(seconds=60) as port, ExitStack() as stack:
        assert is_cut_off(connect(stack, port, head), b"a")


@pytest.mark.parametrize("data", [b"", b"GET / HT", REQUEST[:-2] + b"X-A: b\r\n"])
def test_a_connection_without_complete_headers_is_closed(data: bytes) -> None:
    with limited() as port, ExitStack() as stack:
        assert reply(connect(stack, port, data)) == b""


def test_headers_must_be_complete_in_time_however_many_bytes_arrive() -> None:
    with limited() as port, ExitStack() as stack:
        slow, is_open = connect(stack, port, REQUEST[:-2] + b"X-A: "), True
        slow.settimeout(0.02)
        while is_open:
            try:
                slow.sendall(b"a")
                is_open = bool(slow.recv(1))
            except TimeoutError:  # nothing received
                continue
            except OSError:
                is_open = False


def test_the_second_request_of_a_connection_has_the_same_limit() -> None:
    with limited() as port, ExitStack() as stack:
        kept = connect(stack, port, REQUEST)
        assert b"200 OK" in reply(kept)
        kept.sendall(REQUEST)
        assert b"200 OK" in reply(kept)
        kept.sendall(b"GET ")
        assert reply(kept) == b""


def test_silent_connections_make_room_for_others() -> None:
    with limited(20, 60) as port, ExitStack() as stack:
        silent = [connect(stack, port) for _ in range(100)]
        active = connect(stack, port, REQUEST)
        assert b"200 OK" in reply(active)
        assert reply(silent[0]) == b""
        active.sendall(REQUEST)
        assert b"200 OK" in reply(active)


def test_a_request_that_is_incomplete_is_closed_last() -> None:
    body = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    with limited(3, 60) as port, ExitStack() as stack:
        posting = connect(stack, port, body)
        idle = connect(stack, port, REQUEST)
        assert b"200 OK" in reply(idle)
        connect(stack, port)
        for _ in range(2):
            assert b"200 OK" in reply(connect(stack, port, REQUEST))
        assert reply(idle) == b""
        posting.sendall(b"12345")
        assert b"200 OK" in reply(posting)


def test_a_new_connection_is_not_closed_while_others_are_idle() -> None:
    with limited(3, 60) as port, ExitStack() as stack:
        idle = [connect(stack, port, REQUEST) for _ in range(2)]
        assert all(b"200 OK" in reply(one) for one in idle)
        new = connect(stack, port)
        assert b"200 OK" in reply(connect(stack, port, REQUEST))
        assert reply(idle[0]) == b""
        new.sendall(REQUEST)
        assert b"200 OK" in reply(new)


def test_clients_that_receive_nothing_make_room_for_others() -> None:
    with limited(3, 60) as port, ExitStack() as stack:
        for _ in range(3):
            connect(stack, port, 2 * LARGE_REQUEST).recv(1)
        assert b"200 OK" in reply(connect(stack, port, REQUEST))


def test_a_client_must_receive_what_it_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedProtocol, "stall_seconds", 0.2)
    with limited(3, 60) as port, ExitStack() as stack:
        reading, stalled = (connect(stack, port, 2 * LARGE_REQUEST) for _ in range(2))
        assert count_bytes(reading, 2 * len(LARGE)) >= 2 * len(LARGE)
        time.sleep(1)
        assert count_bytes(stalled, 2 * len(LARGE)) < 2 * len(LARGE)


def count_bytes(connection: socket.socket, enough: int) -> int:
    """Receive until there are enough bytes or the connection is closed; return their number."""
    count = 0
    with suppress(ConnectionResetError):
        while count < enough and (part := connection.recv(1 << 20)):
            count += len(part)
    return count


class Waiting:
    """A connection that waits."""

    waits, importance = True, 0

    def __init__(self, table: ConnectionTable) -> None:
        self.table = table

    def drop(self) -> None:
        self.table.remove(self)  # type: ignore[arg-type]


def test_addresses_are_limited_except_proxies() -> None:
    table = ConnectionTable(MessageLimiter(), 100, 2, ["10.0.0.0/8", "192.0.2.7", "unix"])
    addresses = ["198.51.100.1", "10.1.2.3", "192.0.2.7", "127.0.0.1", "::1", "unix", "2001:db8::1"]
    addresses += ["::ffff:127.0.0.1", "::ffff:10.1.2.4"]
    for address in addresses:
        for _ in range(4):
            assert table.add(Waiting(table), address)  # type: ignore[arg-type]
    assert len(table) == 2 + 4 * 5 + 2 + 4 * 2


def test_a_client_with_many_ipv6_addresses_is_limited_as_one() -> None:
    table = ConnectionTable(MessageLimiter(), 100, 2)
    for number in range(10):
        table.add(Waiting(table), f"2001:db8::{number:x}")  # type: ignore[arg-type]
    assert len(table) == 2
    table.add(Waiting(table), "2001:db8:0:1::1")  # type: ignore[arg-type]
    assert len(table) == 3


def test_repeated_messages_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    messages = MessageLimiter(lambda: now)
    for _ in range(1000):
        messages.write("disk full")
    assert capsys.readouterr().err.splitlines() == ["disk full"] * REPEATS_PER_MINUTE
    now = 61.0
    messages.summarize()
    expected = "earwitness: 997 similar messages suppressed: disk full\n"
    assert capsys.readouterr().err == expected
    messages.summarize(now=True)
    assert capsys.readouterr().err == ""


def test_messages_do_no_harm_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    MessageLimiter().write("earwitness: Key (id)=(\x1b[2J)\nalready exists")
    assert capsys.readouterr().err == "earwitness: Key (id)=(\\u001b[2J)\\nalready exists\n"


def test_different_messages_are_limited_together(capsys: pytest.CaptureFixture[str]) -> None:
    messages = MessageLimiter(lambda: 0.0)
    record = logging.LogRecord("a", logging.ERROR, "", 0, "pattern %s", ("x",), None)
    assert [messages.filter(record) for _ in range(5)] == [True] * 3 + [False] * 2
    for number in range(10_000):
        messages.write(f"message {number}")
    messages.summarize(now=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:57] == [f"message {number}" for number in range(57)]
    assert lines[57:] == [
        "earwitness: 2 similar messages suppressed: pattern %s",
        "earwitness: 9,943 similar messages suppressed: other messages",
    ]
