"""A client of the HTTP API, which knows when the outcome of a call is unknown."""

import http.client
import json
import time
import urllib.error
import urllib.request

# These statuses leave the outcome open: the client repeats the call with the same key.
UNKNOWN = (429, 502, 503, 504)
CALL_LIMIT_S = 150
REPEAT_LIMIT_S = 150


class Refused(Exception):
    """An answer that is neither 2xx nor a reason to try again."""


class Api:
    """The operator."""

    def __init__(self, url, key):
        self.url, self.key = url, key

    def attempt(self, method, path, body=None, headers=None):
        """The answer as JSON. An OSError means that the outcome is unknown."""
        data = (
            body
            if isinstance(body, bytes)
            else json.dumps(body).encode()
            if body is not None
            else None
        )
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if not headers or "X-Hub-Signature-256" not in headers:
            request.add_header("Authorization", f"Bearer {self.key}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=CALL_LIMIT_S) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            if error.code in UNKNOWN:
                raise OSError(f"{method} {path}: {error.code}") from error
            raise Refused(f"{method} {path}: {error.code} {error.read()[:500]!r}") from error
        except http.client.HTTPException as error:
            raise OSError(f"{method} {path}: {error!r}") from error
        return json.loads(text) if text else None

    def call(self, method, path, body=None, headers=None):
        """Repeats a call until its outcome is known."""
        until = time.monotonic() + REPEAT_LIMIT_S
        while True:
            try:
                return self.attempt(method, path, body, headers)
            except OSError as error:
                if time.monotonic() > until:
                    raise Refused(f"no answer within {REPEAT_LIMIT_S} s: {error}") from error
                time.sleep(0.1)

    def all(self, path):
        items, cursor = [], ""
        while cursor is not None:
            mark = "&" if "?" in path else "?"
            page = self.call("GET", f"{path}{mark}limit=200{f'&cursor={cursor}' if cursor else ''}")
            items += page["items"]
            cursor = page.get("nextCursor")
        return items

    def messages(self, space):
        """All messages of a space, by number."""
        messages = []
        while True:
            after = messages[-1]["seq"] if messages else 0
            page = self.call("GET", f"/v1/spaces/{space}/messages?limit=200&after={after}")["items"]
            if not page:
                return messages
            messages += page
