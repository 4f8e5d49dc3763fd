"""The server with limits on connections, so that no client can block the others."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import os
import socket
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from earwitness.errors import UsageError
from earwitness.web.messages import MessageLimiter
from earwitness.web.security import HOST_PATTERN, MAX_UPLOAD_BYTES, client_network

# --- Limits on connections -----------------------------------------------------------------------


MAX_CONNECTIONS, MAX_ADDRESS_CONNECTIONS = 2000, 200
HEADER_SECONDS = 10.0  # from the connection, or the first byte of a request, to its last header
KEEP_ALIVE_SECONDS = 65  # between requests; nginx reuses connections for 60 s
STALL_SECONDS = 60.0  # in which a client must receive a part of what waits to be sent
MAX_HEADER_BYTES = 64 * 1024  # of the address and headers of a request
MAX_HEADERS = 100
MAX_WAITING_REQUESTS = 8  # that a client sends without waiting for the reply to the first
MAX_RECEIVED_BYTES = MAX_HEADER_BYTES + MAX_UPLOAD_BYTES + 1024 * 1024  # of a request
GRACE_SECONDS = 1.0  # for the first request of a connection if there are too many of them
SOCKET_BACKLOG = 1024  # connections that wait to be accepted
ACCEPTED_AT_ONCE = 20  # then requests are served before more connections are accepted
RESERVED_FILES = 300  # database, audio, program, and connections that are being closed
ALL_ADDRESSES = "*"
GARBAGE_THRESHOLDS = 2_000, 10, 10  # fewer searches: requests leave few cycles


def raise_file_limit() -> int:
    """Allow as many open files as the system permits; return their number."""
    try:
        import resource
    except ImportError:  # Windows
        return MAX_CONNECTIONS + RESERVED_FILES
    wanted = MAX_CONNECTIONS + RESERVED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        soft = wanted if hard == unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == unlimited else soft


def max_connections(file_limit: int) -> int:
    """Return the number of connections that a limit on open files permits.

    >>> max_connections(20_000), max_connections(1024), max_connections(256)
    (2000, 724, 85)
    """
    return min(MAX_CONNECTIONS, max(file_limit - RESERVED_FILES, file_limit // 3))


class ConnectionTable:
    """All connections, those of each address, those without a complete request, and idle ones.

    If there are too many, one that waits is closed: first the oldest without any complete request,
    unless it is new, then the longest idle one, then a new one, then the oldest whose request is
    incomplete, then the oldest whose client does not receive what is sent.

    Parameters
    ----------
    messages
        Messages for the operator.
    limit
        Number of connections.
    address_limit
        Number of connections per address, except loopback addresses and proxies.
    proxies
        Addresses or networks of trusted proxies, or ``*``.
    """

    def __init__(
        self,
        messages: MessageLimiter,
        limit: int = MAX_CONNECTIONS,
        address_limit: int = MAX_ADDRESS_CONNECTIONS,
        proxies: Iterable[str] = (),
    ) -> None:
        self._messages, self._limit, self._address_limit = messages, limit, address_limit
        self._proxies = frozenset(proxy.strip() for proxy in proxies)
        self._networks = list[ipaddress.IPv4Network | ipaddress.IPv6Network]()
        for proxy in self._proxies:
            with suppress(ValueError):  # not an address
                self._networks.append(ipaddress.ip_network(proxy, strict=False))
        self._connections = dict[LimitedProtocol, str]()  # in order of arrival
        self._silent = dict[LimitedProtocol, None]()  # without a complete request
        self._idle = dict[LimitedProtocol, None]()  # between requests, the longest idle first
        self._by_address = dict[str, dict[LimitedProtocol, None]]()

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, connection: LimitedProtocol, address: str) -> bool:
        """Add a connection; return False if there is no room for it."""
        is_limited = not self._is_exempt(address)
        address = client_network(address)
        same_address = self._by_address.get(address, {}) if is_limited else {}
        if len(same_address) >= self._address_limit and not _close_waiting(same_address):
            return False
        if len(self) >= self._limit and not self._make_room():
            return False
        self._connections[connection] = address
        self._silent[connection] = None
        if is_limited:
            self._by_address.setdefault(address, {})[connection] = None
        return True

    def _make_room(self) -> bool:
        self._messages.write(
            f"earwitness: {self._limit:,} connections, the maximum; waiting ones are closed"
        )
        silent, idle = next(iter(self._silent), None), next(iter(self._idle), None)
        if idle is not None and (silent is None or silent.is_new):
            idle.drop()
            return True
        if silent is not None:
            silent.drop()
            return True
        return _close_waiting(self._connections)

    def mark_request(self, connection: LimitedProtocol) -> None:
        """Record that a connection has sent a complete request header."""
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)

    def mark_idle(self, connection: LimitedProtocol) -> None:
        """Record that a connection waits for its next request."""
        if connection in self._connections:
            self._idle[connection] = None

    def remove(self, connection: LimitedProtocol) -> None:
        """Remove a connection that is closed."""
        address = self._connections.pop(connection, "")
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)
        same_address = self._by_address.get(address, {})
        same_address.pop(connection, None)
        if not same_address:
            self._by_address.pop(address, None)

    def _is_exempt(self, address: str) -> bool:
        """Whether an address may be that of a proxy, which has the connections of all clients."""
        if ALL_ADDRESSES in self._proxies or address in self._proxies:
            return True
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            return True  # a local socket
        ip = getattr(ip, "ipv4_mapped", None) or ip  # of a server that listens on IPv6, too
        return ip.is_loopback or any(ip in network for network in self._networks)


def _close_waiting(connections: Iterable[LimitedProtocol]) -> bool:
    """Close the connection that waits with the least to lose; return whether there was one."""
    waiting = [connection for connection in connections if connection.waits]
    if not waiting:
        return False
    min(waiting, key=lambda connection: connection.importance).drop()
    return True


class LimitedProtocol(HttpToolsProtocol):
    """HTTP connection with limits on the time and size of requests, in a table of all of them."""

    table: ConnectionTable  # set by ``limited_protocol``
    header_seconds = HEADER_SECONDS
    stall_seconds = STALL_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timers = dict[str, asyncio.TimerHandle]()
        self._unsent_bytes, self._request_bytes, self._header_bytes = 0, 0, 0
        self._has_request, self._in_header = False, True
        self._made = self.loop.time()

    @property
    def is_new(self) -> bool:
        """Whether the connection was made a moment ago, and its first request may be under way."""
        return not self._has_request and self.loop.time() < self._made + GRACE_SECONDS

    @property
    def is_serving(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits(self) -> bool:
        """Whether the connection waits for its client."""
        return not self.is_serving or self.cycle.more_body or self.flow.write_paused

    @property
    def importance(self) -> int:
        """Rank of the connection if some must be closed: the lowest first."""
        if self.flow.write_paused:
            return 4
        if self.is_serving:
            return 3
        return 2 if self.is_new else int(self._has_request)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit; close the connection at once if there are too many."""
        super().connection_made(transport)
        if not self.table.add(self, self.client[0] if self.client else ""):
            transport.abort()
            return
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self.table.remove(self)
        self._stop_timer("header")
        self._stop_timer("stall")
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received data; the time limit for headers starts with their first byte."""
        self._request_bytes += len(data)
        super().data_received(data)
        if self._request_bytes > (MAX_HEADER_BYTES if self._in_header else MAX_RECEIVED_BYTES):
            self.drop()
        elif self.is_serving:
            self._stop_timer("header")
            self._has_request = True
            self.table.mark_request(self)
        elif "header" not in self._timers and self.timeout_keep_alive_task is None:
            self._start_header_timer()

    def on_message_begin(self) -> None:
        """Count the bytes of each request separately."""
        super().on_message_begin()
        self._request_bytes, self._header_bytes, self._in_header = 0, 0, True

    def on_url(self, url: bytes) -> None:
        """Refuse too long addresses."""
        self._count_header(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Refuse too many headers; those that follow the body are ignored."""
        if self._in_header:
            self._count_header(len(name) + len(value))
            super().on_header(name, value)

    def _count_header(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > MAX_HEADER_BYTES or len(self.headers) >= MAX_HEADERS:
            raise ValueError("request header too large")  # the parser replies with status 400

    def on_headers_complete(self) -> None:
        """Start to serve the request."""
        if len(self.pipeline) >= MAX_WAITING_REQUESTS:
            raise ValueError("too many requests at once")
        hosts = [value.decode("latin-1") for name, value in self.headers if name == b"host"]
        if len(hosts) != 1 or not HOST_PATTERN.fullmatch(hosts[0]):
            raise ValueError("a request must have one valid Host header")
        super().on_headers_complete()
        self._in_header = False

    def on_response_complete(self) -> None:
        """Record that the connection is idle, unless the next request has already arrived."""
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()
        self._mark_idle()

    def pause_writing(self) -> None:
        """Start the time limit in which a part of what waits must be received."""
        super().pause_writing()
        self._start_stall_timer()

    def resume_writing(self) -> None:
        """Stop that time limit."""
        self._stop_timer("stall")
        super().resume_writing()
        self._mark_idle()

    def drop(self) -> None:
        """Close the connection without sending what is left; its place is free at once."""
        self.table.remove(self)
        self.transport.abort()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, unless its client is still receiving the last response."""
        unsent, before = self.transport.get_write_buffer_size(), self._unsent_bytes
        self._unsent_bytes = unsent
        if unsent and (not before or unsent < before):
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif unsent:
            self.drop()
        else:
            super().timeout_keep_alive_handler()

    def _mark_idle(self) -> None:
        if self._has_request and not self.is_serving and not self.flow.write_paused:
            self.table.mark_idle(self)

    def _start_stall_timer(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        self._timers["stall"] = self.loop.call_later(self.stall_seconds, self._check_stall, unsent)

    def _check_stall(self, before: int) -> None:
        if self.transport.get_write_buffer_size() < before:
            self._start_stall_timer()
        else:
            self.drop()

    def _start_header_timer(self) -> None:
        self._timers["header"] = self.loop.call_later(self.header_seconds, self.drop)

    def _stop_timer(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()


def limited_protocol(table: ConnectionTable, header_seconds: float) -> type[LimitedProtocol]:
    """Return the protocol class of a server with this table of connections."""
    return type(
        "LimitedProtocol", (LimitedProtocol,), {"table": table, "header_seconds": header_seconds}
    )


# --- The server ----------------------------------------------------------------------------------


class LimitedServer(uvicorn.Server):
    """Server that limits connections and messages.

    asyncio accepts as many connections at once as may wait in the system's queue, and fails if
    there are no files left for them. So it is told of a short queue, which is then made longer.
    """

    def __init__(self, config: uvicorn.Config, messages: MessageLimiter) -> None:
        super().__init__(config)
        self._messages = messages

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(SOCKET_BACKLOG)
        gc.collect()
        gc.freeze()  # the study stays in memory, and need not be searched for garbage
        gc.set_threshold(*GARBAGE_THRESHOLDS)

    async def on_tick(self, counter: int) -> bool:
        """Print summaries of suppressed messages; return whether to stop."""
        self._messages.summarize()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and print what was suppressed."""
        await super().shutdown(sockets)
        self._messages.summarize(now=True)


def make_server(
    app: Any,
    messages: MessageLimiter,
    trusted: str = "",
    *,
    table: ConnectionTable | None = None,
    header_seconds: float = HEADER_SECONDS,
) -> LimitedServer:
    """Return a server for an application.

    Parameters
    ----------
    app
        ASGI application.
    messages
        Messages for the operator, of which there are only a few per minute.
    trusted
        Addresses of proxies whose forwarded headers are trusted, separated by commas.
    table
        Table of connections; by default one with the limits of this module.
    header_seconds
        Time limit for the headers of a request.
    """
    if table is None:
        proxies = trusted.split(",") if trusted else ()
        table = ConnectionTable(messages, max_connections(raise_file_limit()), proxies=proxies)
    config = uvicorn.Config(
        app,
        http=limited_protocol(table, header_seconds),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=bool(trusted),
        forwarded_allow_ips=trusted or None,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=5,
        backlog=ACCEPTED_AT_ONCE,
        lifespan="off",
    )
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(messages)
    return LimitedServer(config, messages)


# --- Listening socket ----------------------------------------------------------------------------


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, with TCP set explicitly to avoid delayed replies."""
    socket_type = {"type": socket.SOCK_STREAM, "proto": socket.IPPROTO_TCP}
    try:
        family, _, _, _, socket_address = socket.getaddrinfo(host, port, **socket_type)[0]
        with ExitStack() as stack:
            listening = stack.enter_context(socket.socket(family, **socket_type))
            if os.name == "posix":  # on Windows, it would let a second server use the same port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(socket_address)
            listening.listen()
            stack.pop_all()
        return listening
    except OSError as error:
        reason = error.strerror or error
        message = f"{host}:{port}: cannot listen on this address: {reason}"
        raise UsageError(f"{message} — choose another --host or --port") from None


def is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can reach a socket."""
    return ipaddress.ip_address(str(listening.getsockname()[0]).partition("%")[0]).is_loopback


def socket_address(listening: socket.socket) -> str:
    """Return the address of a socket, as a browser shows it.

    >>> with open_socket("127.0.0.1", 0) as listening:
    ...     socket_address(listening).startswith("http://127.0.0.1:")
    True
    """
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def link_address(listening: socket.socket) -> str:
    """Return the address for links to a socket; HOST stands for this machine's name.

    It has HOST only if the socket listens on all interfaces, which no browser can open by number.

    >>> with open_socket("0.0.0.0", 0) as listening:
    ...     link_address(listening).startswith("http://HOST:")
    True
    """
    host, port = listening.getsockname()[:2]
    is_any = ipaddress.ip_address(host.partition("%")[0]).is_unspecified
    return f"http://HOST:{port}" if is_any else socket_address(listening)
