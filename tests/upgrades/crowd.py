"""Open pages of one space, more than a run posts to by itself: jobs carry what its agent writes."""

import json
import threading

from websocket import WebSocket

# A run posts to 50 by itself.
CONNECTIONS = 55
RETRY_S = 0.2


class Crowd:
    def __init__(self, load, space):
        self.load, self.space = load, space
        self.stopping = threading.Event()
        # The streams that each connection has seen text of.
        self.streams = [set() for _ in range(CONNECTIONS)]

    def begin(self):
        for number in range(CONNECTIONS):
            self.load.begin(lambda number=number: self.follow(number))

    def follow(self, number):
        while not self.stopping.is_set():
            connection = None
            try:
                connection = WebSocket(self.load.api.call("POST", "/v1/socketTickets", {})["url"])
                connection.send(json.dumps({"action": "subscribe", "spaceId": self.space}))
                while not self.stopping.is_set():
                    self.take(number, connection.receive(1))
            except OSError:
                # The local host's restarts close it.
                self.stopping.wait(RETRY_S)
            finally:
                if connection:
                    connection.close()

    def take(self, number, text):
        frame = json.loads(text) if text else {"type": None}
        if frame["type"] in ("stream.delta", "stream.snapshot"):
            self.streams[number].add(frame["streamId"])
        elif frame["type"] == "error":
            self.load.errors.append(f"the crowd: {frame}")

    def faults(self):
        """Connections that saw text of fewer than half of the streams. Restarts lose some of it."""
        seen = set().union(*self.streams)
        for number, streams in enumerate(self.streams):
            if 2 * len(streams) < len(seen) or not streams:
                yield f"connection {number} of the crowd saw text of {len(streams)} of {len(seen)} streams"

    def summary(self):
        return f"{CONNECTIONS} connections of a large room saw text of {min(map(len, self.streams))} to {max(map(len, self.streams))} answers"
