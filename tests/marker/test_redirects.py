"""What is on a page goes to the server that the config names, and to no other."""

from __future__ import annotations

import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from regcomments.ocr.marker_process import CHILD

from tests.marker.conftest import PYTHON

PROGRAM = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("child", sys.argv[1])
child = importlib.util.module_from_spec(spec)
spec.loader.exec_module(child)
child.stay_with_the_server()
import httpx
from openai import OpenAI
client = OpenAI(api_key="EMPTY", base_url=sys.argv[2] + "/v1", max_retries=0)
try:
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "a page"}])
except Exception as error:
    print(type(error).__name__)
with httpx.Client(follow_redirects=True) as plain:
    print(plain.post(sys.argv[2], json={"texts": ["a page"]}).status_code)
"""


class _Redirects(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.asked.append(self.path)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.server.status)
        self.send_header("Location", self.server.where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("status", [302, 307, 308])
def test_text_of_a_page_isnt_sent_on_to_where_a_server_redirects(status):
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _Redirects) for _ in range(2)]
    named, other = servers
    for server in servers:
        server.asked, server.status = [], status
        server.where = f"http://127.0.0.1:{other.server_address[1]}/v1/stolen"
        threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{named.server_address[1]}"
    try:
        run = subprocess.run(
            [str(PYTHON), "-P", "-c", PROGRAM, str(CHILD), url],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
    assert len(named.asked) == 2 and other.asked == [], json.dumps(other.asked)
    assert run.stdout.split() == ["APIStatusError", str(status)]
