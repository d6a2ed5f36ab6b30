"""A remote agent: Smartspace calls it, and it streams and posts its answer and ends the run."""

import json, os, re, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen
from standardwebhooks import Webhook, WebhookVerificationError

def answer(delivery):
    """The agent itself: yields its answer piece by piece."""
    trigger = delivery["trigger"]
    if trigger.get("sender", {}).get("type") != "human":
        return  # Two agents would answer each other.
    text = f"Hello {trigger['sender']['name']}, you said: {trigger['text']}"
    for word in re.findall(r"\s*\S+", text):
        time.sleep(0.2)  # A model takes time, too.
        yield word

def work(delivery, answer):
    run, callbacks, text, shown = delivery["run"]["id"], delivery["callbacks"], "", 0
    def call(route, body):
        headers = {
            "Authorization": f"Bearer {callbacks['token']}",
            "Content-Type": "application/json",
            "Idempotency-Key": run,
        }
        for pause in (0.5, 1, 2, 4, 0):  # Every callback may be repeated.
            try:
                request = Request(callbacks[route], json.dumps(body).encode(), headers)
                return urlopen(request, timeout=30).close()
            except OSError as error:
                code = getattr(error, "code", 503)  # Without one it was not connected.
                if (route, code) in (
                    ("stream", 429),  # Too often: the next snapshot has this text, too.
                    ("messages", 422),  # Posted, in other words, before this program restarted.
                ): return
                if not pause or code not in (429, 502, 503, 504): raise
                time.sleep(pause)
    try:
        for piece in answer(delivery):
            text += piece
            if not text or time.monotonic() - shown < 0.25: continue  # At most 4 times a second.
            body = {"streamKey": "answer", "offset": 0, "text": text, "snapshot": True}
            call("stream", body)
            shown = time.monotonic()
        if text: call("messages", {"streamKey": "answer", "text": text})
        call("complete", {"status": "completed"})
    except Exception as error:
        if getattr(error, "code", None) == 409:  # The run has ended, for example by a cancel.
            return print(f"{run} is over", flush=True)
        call("complete", {"status": "failed", "reason": f"{type(error).__name__}: {error}"})

def serve(answer):
    webhook, seen = Webhook(os.environ["SMARTSPACE_SECRET_REMOTE_AGENT"]), set()
    class Handler(BaseHTTPRequestHandler):
        timeout = 10
        def do_POST(self):
            try:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                delivery = webhook.verify(body, dict(self.headers))
            except (WebhookVerificationError, ValueError):
                return self.send_error(401)
            if delivery["run"]["id"] not in seen:  # A delivery may come again.
                seen.add(delivery["run"]["id"])
                threading.Thread(target=work, args=(delivery, answer), daemon=True).start()
            self.send_response(204)
            self.end_headers()
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8701))), Handler).serve_forever()

if __name__ == "__main__":
    serve(answer)
