"""A model server on loopback: it answers from a list, or as a function says.

Texts are put into the form of OpenAI's chat; whoever is asked for vectors gets `embeddings`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Scripted = str | tuple[int, str] | dict[str, Any]  # a text, a status with a body, a whole answer

# How long whoever ends a server waits for it.
POLL_S = 0.01


class ModelServer:
    """Answers question after question; what it was asked is in `asked` and `headers`."""

    def __init__(self, answers: Sequence[Scripted] | Callable[[dict[str, Any]], Scripted]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._next = answers if callable(answers) else _one_by_one(answers)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": POLL_S}, daemon=True
        )

    @property
    def endpoint(self) -> str:
        """The address that `/chat/completions` follows."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, question: dict[str, Any]) -> tuple[int, bytes]:
        told = self._next(question)
        if isinstance(told, tuple):
            return told[0], told[1].encode()
        if isinstance(told, str):
            told = completion(told, model=str(question.get("model")))
        return 200, json.dumps(told).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                server.headers.append({k.lower(): v for k, v in self.headers.items()})
                server.asked.append({"path": self.path, **json.loads(body)})
                status, answer = server._answer(server.asked[-1])
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Be quiet."""

        return Handler


def embeddings(vectors: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return vectors in the shape that OpenAI's servers have, which is in no order."""
    data = [
        {"object": "embedding", "index": at, "embedding": list(vector)}
        for at, vector in enumerate(vectors)
    ]
    return {"object": "list", "data": data[::-1], "model": "tiny", "usage": {"prompt_tokens": 8}}


def completion(text: str | None, *, model: str = "tiny", finish: str = "stop") -> dict[str, Any]:
    """Return an answer of the shape that OpenAI's servers have."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _one_by_one(answers: Sequence[Scripted]) -> Callable[[dict[str, Any]], Scripted]:
    left = list(answers)
    return lambda _: left.pop(0) if left else (503, "nothing left to say")
