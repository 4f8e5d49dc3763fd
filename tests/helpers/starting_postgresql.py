"""A process that refuses connections as PostgreSQL does while it starts, then leads to a real one.

It is a process of its own, since libpq lets no other thread run while it asks for the state.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FIELDS = "SFATAL\0VFATAL\0C57P03\0Mle système démarre\0\0".encode()  # in any language


@contextmanager
def starting(real: str, refusals: int) -> Iterator[int]:
    """Run such a process, which refuses so many connections; yield its port."""
    command = [sys.executable, __file__, real, str(refusals)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def main() -> None:
    """Print the port, and answer connections one after another."""
    server, refusals = socket.create_server(("127.0.0.1", 0)), int(sys.argv[2])
    print(server.getsockname()[1], flush=True)
    while True:
        client, _ = server.accept()
        if refusals > 0:
            refusals -= 1
            _read_start(client)
            client.sendall(b"E" + struct.pack("!I", len(FIELDS) + 4) + FIELDS)
            client.close()
        else:
            real = socket.socket(socket.AF_UNIX)
            real.connect(sys.argv[1])
            real.sendall(_read_start(client))
            for source, target in ((client, real), (real, client)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _read_start(client: socket.socket) -> bytes:
    """Return the message with which a client begins, after it has asked for encryption."""
    while True:
        start = client.recv(8, socket.MSG_WAITALL)
        length, code = struct.unpack("!II", start)
        if code >> 16 == 3:  # the version of the protocol
            return start + client.recv(length - 8, socket.MSG_WAITALL)
        client.sendall(b"N")  # no encryption


def _copy(source: socket.socket, target: socket.socket) -> None:
    while data := source.recv(65536):
        target.sendall(data)
    target.close()


if __name__ == "__main__":
    main()
