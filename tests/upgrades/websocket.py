"""A WebSocket client as small as this test needs, without packages."""

import base64
import os
import socket
import struct
import urllib.parse

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
HANDSHAKE_LIMIT_S = 60


class WebSocket:
    """An open connection. An OSError means that it is broken."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection(
            (parts.hostname, parts.port), timeout=HANDSHAKE_LIMIT_S
        )
        self.buffer, self.message = b"", b""
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
        )
        lines += (f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "")
        self.socket.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            self.close()
            raise OSError(f"no WebSocket: {head[:200]!r}")

    def close(self):
        self.socket.close()

    def fill(self):
        received = self.socket.recv(65_536)
        if not received:
            raise OSError("the connection is closed")
        self.buffer += received

    def send(self, text, kind=TEXT):
        data = text if isinstance(text, bytes) else text.encode()
        length = (
            bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack("!H", len(data))
        )
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self.socket.sendall(bytes([0x80 | kind]) + length + mask + masked)

    def receive(self, limit_s):
        """The next text, or None if none comes in time."""
        self.socket.settimeout(limit_s)
        while True:
            try:
                final, kind, data = self.frame()
            except TimeoutError:
                return None
            if kind == CLOSE:
                raise OSError("the server closed the connection")
            if kind == PING:
                self.send(data, PONG)
            elif kind != PONG:
                self.message += data
                if final:
                    whole, self.message = self.message, b""
                    return whole.decode()

    def frame(self):
        """The next frame. What was read of it stays in the buffer if time is up."""
        self.have(2)
        length, start = self.buffer[1] & 0x7F, 2
        if length >= 126:
            size = 2 if length == 126 else 8
            self.have(2 + size)
            length, start = int.from_bytes(self.buffer[2 : 2 + size], "big"), 2 + size
        self.have(start + length)
        first, data = self.buffer[0], self.buffer[start : start + length]
        self.buffer = self.buffer[start + length :]
        return bool(first & 0x80), first & 0x0F, data

    def have(self, count):
        while len(self.buffer) < count:
            self.fill()
