"""Open pages of one space, more than a run posts to by itself: jobs carry what its agent writes."""

import json
import threading

from api import UNKNOWN
from websocket import WebSocket

# A run posts to 50 by itself.
CONNECTIONS = 55
RETRY_S = 0.2


class Page:
    """What one connection has seen."""

    def __init__(self):
        # The text of each stream in code units, and the message that replaced it.
        self.texts, self.messages = {}, {}

    def take(self, frame):
        if frame["type"] in ("stream.delta", "stream.snapshot"):
            text = self.texts.setdefault(frame["streamId"], {})
            text.update(enumerate(frame["text"], start=frame.get("offset", 0)))
        elif frame["type"] == "message.created" and "streamId" in frame["message"]:
            message = frame["message"]
            self.messages[message["streamId"]] = "".join(
                part.get("text", "") for part in message["parts"]
            )

    def watched(self):
        """The streams whose whole text it saw."""
        return {stream for stream, text in self.messages.items() if self.shown(stream) == text}

    def shown(self, stream):
        """The text that it saw without a gap.

        No text of this test has characters of two code units.
        """
        text = self.texts.get(stream, {})
        return "".join(text[at] for at in range(len(text)) if at in text)


class Crowd:
    def __init__(self, load, space, share):
        self.load, self.space, self.share = load, space, share
        self.stopping = threading.Event()
        self.pages = [Page() for _ in range(CONNECTIONS)]

    def begin(self):
        for page in self.pages:
            self.load.begin(lambda page=page: self.follow(page))

    def follow(self, page):
        while not self.stopping.is_set():
            connection = None
            try:
                connection = WebSocket(self.load.api.call("POST", "/v1/socketTickets", {})["url"])
                connection.send(json.dumps({"action": "subscribe", "spaceId": self.space}))
                while not self.stopping.is_set():
                    if text := connection.receive(1):
                        self.take(page, json.loads(text))
            except OSError:
                # The local host's restarts close it.
                self.stopping.wait(RETRY_S)
            finally:
                if connection:
                    connection.close()

    def take(self, page, frame):
        if frame["type"] != "error":
            page.take(frame)
        elif frame["status"] in UNKNOWN:
            raise OSError(f"subscribe again: {frame}")
        else:
            self.load.errors.append(f"the crowd: {frame}")

    def faults(self):
        """Connections that saw too few answers while they were written."""
        answers = set().union(*(page.messages for page in self.pages))
        for number, page in enumerate(self.pages):
            watched = page.watched()
            if len(watched) < self.share * len(answers) or not watched:
                unseen = {
                    stream: page.shown(stream)[-80:] for stream in sorted(answers - watched)[:3]
                }
                seen = f"{len(watched)} of {len(answers)} answers"
                yield f"connection {number} of the crowd watched {seen}: {unseen}"

    def summary(self):
        answers = set().union(*(page.messages for page in self.pages))
        watched = [len(page.watched()) for page in self.pages]
        seen = f"{min(watched)} to {max(watched)} of {len(answers)} answers"
        return f"{CONNECTIONS} connections of a large room watched {seen}"
