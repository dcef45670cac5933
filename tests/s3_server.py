"""An S3 server in this process, and a proxy before it that can stumble."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.server import ThreadedMotoServer

BUCKET = "results"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


@dataclass
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """What the server answers; `cut` closes the connection after so many bytes of the body."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


Rule = Callable[[Request], Answer | None]


def error(status: int, code: str) -> Answer:
    """Return an error as S3 puts it."""
    body = f"<Error><Code>{code}</Code><Message>test says {code}</Message></Error>"
    return Answer(status, body.encode(), {"Content-Type": "application/xml"})


class Proxy:
    """Hands requests on to moto. `rule` may change a request, or answer in moto's place."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.rule: Rule | None = None
        self.after: Callable[[Request, Answer], None] | None = None
        self.requests: list[Request] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                if self.headers.get("Expect", "").lower() == "100-continue":
                    self.send_response_only(100)
                    self.end_headers()
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                request = Request(self.command, self.path, dict(self.headers.items()), body)
                proxy.requests.append(request)
                answer = proxy.rule(request) if proxy.rule else None
                if answer is None:
                    answer = proxy.hand_on(request)
                if proxy.after:
                    proxy.after(request, answer)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if request.method != "HEAD":
                    self.wfile.write(answer.body[: answer.cut])
                if answer.cut is not None:
                    self.close_connection = True

            do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = handle_any

            def handle_expect_100(self) -> bool:
                return True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def hand_on(self, request: Request) -> Answer:
        connection = http.client.HTTPConnection(*self.target, timeout=60)
        try:
            headers = {k: v for k, v in request.headers.items() if k.lower() != "expect"}
            connection.request(request.method, request.path, request.body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.read(), dict(response.getheaders()))
        finally:
            connection.close()

    def make_bucket(self) -> None:
        assert self.hand_on(Request("PUT", f"/{BUCKET}", {}, b"")).status == 200

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def s3_server():
    """Yield a proxy before an S3 server that has no bucket yet."""
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    proxy = Proxy(("127.0.0.1", moto.get_host_and_port()[1]))
    try:
        made = proxy.hand_on(Request("POST", "/moto-api/reset", {}, b""))
        assert made.status == 200, made
        yield proxy
    finally:
        proxy.close()
        moto.stop()
