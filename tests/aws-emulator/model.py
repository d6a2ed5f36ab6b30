"""A model on the address that the stack is configured with.

It speaks OpenAI's chat completions and plays a list of answers for each model name.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def call(tool, arguments):
    return {
        "tool_calls": [
            {
                "index": 0,
                "id": f"call_{time.time_ns()}",
                "type": "function",
                "function": {"name": tool, "arguments": json.dumps(arguments)},
            }
        ]
    }


def say(text):
    return call("send_message", {"text": text})


class Model:
    """A context manager that listens while it is open."""

    def __init__(self, address):
        self.answers, self.asked, self.lock = {}, {}, threading.Lock()
        host, port = address.rsplit(":", 1)
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                model.respond(
                    self, json.loads(self.rfile.read(int(self.headers["content-length"])))
                )

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, *_):
                """Ignores errors: the function that asked may have been killed."""

        self.server = Server((host, int(port)), Handler)

    def __enter__(self):
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def plays(self, name, *answers):
        """Sets one answer for each step of a run, also if the step is repeated.

        Each is a delta as of OpenAI, or a function from the request to a delta. Later steps get an
        empty answer.
        """
        self.answers[name] = answers

    def respond(self, request, question):
        name = question["model"]
        with self.lock:
            self.asked.setdefault(name, []).append(question)
        step, answers = (
            sum(message["role"] == "assistant" for message in question["messages"]),
            self.answers.get(name, ()),
        )
        answer = answers[step] if step < len(answers) else {}
        if callable(answer):
            answer = answer(question)
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        end = "tool_calls" if "tool_calls" in answer else "stop"
        chunks = [{"choices": [{"index": 0, "delta": answer, "finish_reason": None}]}]
        chunks += [
            {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
            {"choices": [], "usage": usage},
        ]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        request.send_response(200)
        request.send_header("content-type", "text/event-stream")
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body.encode())
