"""A person's open page: it follows all spaces over one WebSocket, and posts over it."""

import json
import threading
import time

from websocket import WebSocket

SEND_EVERY_S = 1
PING_EVERY_S = 5
REPEAT_AFTER_S = 20


class Follower:
    def __init__(self, load):
        self.load, self.api = load, load.api
        self.seen = {space: set() for space in load.spaces}
        # Posts without an answer, by their key: the text, its space, and when it was sent last.
        self.pending, self.number, self.healed, self.connections = {}, 0, 0, 0
        self.stopping = threading.Event()

    def follow(self):
        while not self.stopping.is_set():
            connection = None
            try:
                connection = WebSocket(self.api.call("POST", "/v1/socketTickets", {})["url"])
                self.connections += 1
                self.converse(connection)
            except OSError:
                # Only the local host's restarts close it.
                self.stopping.wait(0.2)
            finally:
                if connection:
                    connection.close()

    def converse(self, connection):
        self.subscribe(connection, self.seen)
        self.pending = {key: (text, space, 0) for key, (text, space, _) in self.pending.items()}
        pinged = sent = time.monotonic()
        while not self.stopping.is_set():
            text = connection.receive(0.2)
            if text:
                self.take(connection, json.loads(text))
            now = time.monotonic()
            if now - pinged > PING_EVERY_S:
                pinged = now
                connection.send(
                    json.dumps(
                        {
                            "action": "ping",
                            "spaces": {space: self.position(space) for space in self.seen},
                        }
                    )
                )
            if now - sent > SEND_EVERY_S:
                sent = now
                self.post(connection, now)

    def subscribe(self, connection, spaces):
        for space in spaces:
            connection.send(
                json.dumps(
                    {"action": "subscribe", "spaceId": space, "afterSeq": self.position(space)}
                )
            )

    def position(self, space):
        """The last number up to which nothing is missing."""
        position = 0
        while position + 1 in self.seen[space]:
            position += 1
        return position

    def take(self, connection, frame):
        kind = frame["type"]
        if kind == "message.created":
            self.seen[frame["spaceId"]].add(frame["message"]["seq"])
        elif kind == "pong" and frame["spaces"]:
            # Live frames may get lost; a client that learns of it reads again.
            self.healed += 1
            self.subscribe(connection, frame["spaces"])
        elif kind == "sent":
            text, space, _ = self.pending.pop(frame["id"], (None, None, None))
            if text:
                self.load.acknowledge(text, space, frame["messageId"])
        elif kind == "error" and frame["status"] not in (429, 503):
            self.load.errors.append(f"socket: {frame}")

    def post(self, connection, now):
        """Posts a message, and repeats what got no answer."""
        overdue = [key for key, (_, _, at) in self.pending.items() if now - at > REPEAT_AFTER_S][:2]
        if not self.load.stopping.is_set() and len(self.pending) < 5:
            key, self.number = f"socket-{self.number}", self.number + 1
            self.pending[key] = (
                f"message {key}",
                self.load.spaces[self.number % len(self.load.spaces)],
                0,
            )
            overdue.append(key)
        for key in overdue:
            text, space, _ = self.pending[key]
            self.pending[key] = (text, space, now)
            frame = {
                "action": "send",
                "id": key,
                "spaceId": space,
                "text": text,
                "idempotencyKey": key,
            }
            connection.send(json.dumps(frame | {"senderId": self.load.people[0]}))

    def missing(self):
        """The spaces of which it has not seen every message."""
        last = {space: len(self.api.messages(space)) for space in self.seen}
        return [
            f"{space}: {self.position(space)} of {last[space]}"
            for space in last
            if self.position(space) < last[space]
        ]
