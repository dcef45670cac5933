"""The inference server: addresses, health, command lines, and settings from the config."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from regcomments.ocr import server_commands
from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.server import (
    OCR_ERROR_MODEL,
    Endpoint,
    ServerFacts,
    facts_from,
    fault,
    openai_url,
    settings_from,
    wait_well,
)

ROOT = Path(__file__).resolve().parents[1]
MODEL = "datalab-to/surya-ocr-2"


@pytest.mark.parametrize(
    "written",
    [
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/v1/",
        "127.0.0.1:8000",
        " http://127.0.0.1:8000/v1 ",
    ],
)
def test_addresses_come_with_or_without_v1_and_slash(written):
    assert openai_url(written) == "http://127.0.0.1:8000/v1"


def test_address_below_a_path_and_of_another_scheme():
    assert openai_url("https://gpu.lan/ocr/v1") == "https://gpu.lan/ocr/v1"
    assert openai_url("http://[::1]:8000/") == "http://[::1]:8000/v1"


@pytest.mark.parametrize(
    "written",
    ["", "   ", "ftp://host", "http://", "http://host:port", "http://a b", "http://h/?x=1"],
)
def test_what_is_no_address_is_refused(written):
    with pytest.raises(EngineUnavailableError, match=r"ocr\.server"):
        openai_url(written)


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        answers = self.server.answers
        answers.get("asked", []).append(self.path)
        code, body = answers.get(self.path, (404, b""))
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        if "location" in answers:
            self.send_header("Location", answers["location"])
        self.end_headers()
        for place in range(len(body) if "pace" in answers else 0):
            with contextlib.suppress(OSError):
                self.wfile.write(body[place : place + 1])
            time.sleep(answers["pace"])
        if "pace" not in answers:
            self.wfile.write(body)


@pytest.fixture
def web():
    """A server whose `answers` maps a path to status and body."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    models = json.dumps({"data": [{"id": MODEL}]}).encode()
    errors = json.dumps({"data": [{"id": OCR_ERROR_MODEL}]}).encode()
    server.answers = {
        "/health": (200, b"{}"),
        "/v1/models": (200, models),
        "/side/health": (200, b""),
        "/side/v1/models": (200, errors),
    }
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def endpoint_of(web, *, side: bool = False) -> Endpoint:
    base = f"http://127.0.0.1:{web.server_address[1]}"
    return Endpoint(f"{base}/v1", f"{base}/side/v1" if side else None)


def test_healthy_services_have_no_fault(web):
    assert fault(endpoint_of(web), MODEL) is None
    assert fault(endpoint_of(web, side=True), MODEL) is None


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        ("/health", (503, b""), "answers 503"),
        ("/v1/models", (404, b""), "doesn't tell its model"),
        ("/v1/models", (200, b"<html>"), "is the address right"),
        ("/v1/models", (200, b"[]"), "is the address right"),
        ("/v1/models", (200, b'{"data": []}'), "serves nothing"),
        (
            "/v1/models",
            (200, b'{"data": [{"id": "gemma"}]}'),
            f"serves gemma, and {MODEL} is wanted",
        ),
        ("/side/health", (500, b""), "ocr-error service"),
        ("/side/v1/models", (200, b'{"data": [{"id": "other"}]}'), "ocr-error service"),
    ],
)
def test_sick_or_strange_services_are_told_apart(web, path, answer, message):
    web.answers[path] = answer
    assert message in fault(endpoint_of(web, side=True), MODEL)


def test_server_that_is_down_or_hangs_is_a_fault_within_the_time(web):
    where = endpoint_of(web)
    web.shutdown()
    assert "can't be reached" in fault(where, MODEL, 0.3)  # accepts, says nothing
    web.server_close()
    assert "can't be reached" in fault(where, MODEL, 0.3)


def test_proxy_variables_don_t_touch_health_checks(web, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert fault(endpoint_of(web), MODEL) is None


def test_waiting_backs_off_tells_and_ends_when_the_server_is_well(web):
    web.answers["/health"] = (503, b"")
    pauses = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            web.answers["/health"] = (200, b"")

    assert wait_well(endpoint_of(web), MODEL, 60, sleep=sleep) is None
    assert pauses == [0.5, 1.0, 2.0, 4.0]


def test_waiting_ends_with_the_fault_when_time_is_up(web):
    web.answers["/health"] = (503, b"")
    assert "answers 503" in wait_well(endpoint_of(web), MODEL, 0.0)


def test_settings_from_config():
    found = settings_from({"ocr": {"server": "gpu:8000", "server_wait_seconds": 5}})
    assert (found.endpoint, found.wait_seconds) == (Endpoint("http://gpu:8000/v1"), 5)
    marker = {"ocr_error_url": "http://gpu:8001"}
    found = settings_from({"ocr": {"server": "gpu:8000", "marker": marker}})
    assert found.endpoint == Endpoint("http://gpu:8000/v1", "http://gpu:8001/v1")
    assert settings_from({"ocr": {"server": "start"}}).endpoint is None
    host = {"name": "rig", "server": {"url": "http://rig:9", "vllm_gpu_type": "4090"}}
    assert settings_from({"ocr": {"server": "start"}, "host": host}).endpoint.inference.startswith(
        "http://rig:9/"
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"gpu_typ": "4090"}, "unknown key gpu_typ"),
        ({"kind": "ollama"}, "it can be vllm or llamacpp"),
        ({"kind": "llamacpp", "gguf": "m.gguf"}, "gguf and server.mmproj"),
    ],
)
def test_wrong_host_facts_are_told(facts, message):
    with pytest.raises(EngineUnavailableError, match=message):
        facts_from(facts)


def host_file(name: str) -> dict:
    return yaml.safe_load((ROOT / "config" / "hosts" / f"{name}.yaml").read_text())


def option(command: list[str], name: str) -> str:
    return command[command.index(name) + 1]


@pytest.mark.parametrize(
    ("host", "sequences", "tokens"),
    [("rig", "32", "8192"), ("laptop", "16", "4096"), ("rack", "8", "2048")],
)
def test_vllm_command_by_host(host, sequences, tokens):
    command = server_commands.vllm_command(
        facts_from(host_file(host)["server"]), 8123, "regcomments-ocr-x-7", 7
    )
    assert command[:3] == ["docker", "run", "--rm"]
    assert "-d" not in command  # in the foreground its end is seen, and signals reach it
    assert option(command, "--name") == "regcomments-ocr-x-7"
    assert option(command, "--label") == "regcomments.keeper=7"
    assert option(command, "-p") == "127.0.0.1:8123:8000"
    assert option(command, "--max-num-seqs") == sequences
    assert option(command, "--max-num-batched-tokens") == tokens
    assert option(command, "--gpu-memory-utilization") == "0.8"
    assert option(command, "--model") == option(command, "--served-model-name") == MODEL
    image = command.index(ServerFacts.image)
    assert command.index("-p") < image < command.index("--model")


def test_unknown_card_wants_limits():
    with pytest.raises(EngineUnavailableError, match=r"'3060'; known: .*4090"):
        server_commands.card_limits(ServerFacts(gpu="3060"))
    assert server_commands.card_limits(
        ServerFacts(gpu="3060", max_num_seqs=4, max_num_batched_tokens=1024)
    ) == (1024, 4)


def test_llama_command():
    facts = facts_from({"kind": "llamacpp", "gguf": "/m.gguf", "mmproj": "/p.gguf", "parallel": 2})
    command = server_commands.llama_command(facts, 8124)
    assert command[0] == "llama-server"
    assert (option(command, "-m"), option(command, "--mmproj")) == ("/m.gguf", "/p.gguf")
    assert (option(command, "--alias"), option(command, "--port")) == (MODEL, "8124")
    assert (option(command, "--ctx-size"), option(command, "--parallel")) == ("24576", "2")


def test_containers_of_dead_keepers_are_stale():
    listing = "ocr-a 11\nocr-b 12\n\nstrange\n"
    assert server_commands.stale(listing, [12]) == ["ocr-a"]


def test_page_on_marker_names_every_key_of_a_host_s_server():
    text = (ROOT / "docs" / "marker.md").read_text()
    names = {"gpu": "vllm_gpu_type", "memory": "gpu_memory_utilization"}
    for key in ServerFacts.__dataclass_fields__:
        assert f"`{names.get(key, key)}`" in text, key


@pytest.mark.parametrize(
    "written",
    ["http://me:secret@gpu:8000", "me:secret@gpu:8000", "ftp://me:secret@gpu", "http://secret@gpu",
     "http://me:secret@gpu:port", "http://me:secret@[::1", "http://gpu/?key=secret"],
)  # fmt: skip
def test_secret_in_a_server_s_address_is_refused_and_not_repeated(written):
    with pytest.raises(EngineUnavailableError, match=r"ocr\.server") as refused:
        openai_url(written)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("written", ["http://[::1", "http://[gpu]:8000", 8000, None])
def test_crash_on_an_address_that_can_t_be_taken_apart(written):
    with pytest.raises(EngineUnavailableError, match=r"ocr\.server"):
        openai_url(written)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirect_of_a_health_check_is_a_fault_and_isnt_followed(web, status):
    asked = []
    web.answers["/health"] = (status, b"")
    web.answers["location"] = f"http://127.0.0.1:{web.server_address[1]}/elsewhere"
    web.answers["asked"] = asked
    assert f"answers {status}" in fault(endpoint_of(web), MODEL)
    assert "/elsewhere" not in asked


def test_crash_on_a_health_check_of_deep_nested_json(web):
    web.answers["/v1/models"] = (200, b"[" * 200_000)
    assert "is the address right" in fault(endpoint_of(web), MODEL)


def test_unbounded_time_when_a_server_answers_by_drops(web):
    web.answers["/v1/models"] = (200, b" " * 400)
    web.answers["pace"] = 0.1
    started = time.monotonic()
    assert "can't be reached" in fault(endpoint_of(web), MODEL, 0.4)
    assert time.monotonic() - started < 3


def test_signs_of_a_terminal_in_a_model_s_name_aren_t_repeated(web):
    names = [{"id": "\x1b[2J\u202eevil"}, *({"id": f"m{n}"} for n in range(2000))]
    web.answers["/v1/models"] = (200, json.dumps({"data": names}).encode())
    told = fault(endpoint_of(web), MODEL)
    assert "evil" in told and told.isprintable() and len(told) < 1000


@pytest.mark.parametrize(
    ("facts", "key"),
    [
        ({"extra_args": "--quantization fp8"}, "extra_args"),
        ({"gpu_memory_utilization": "most"}, "gpu_memory_utilization"),
        ({"gpu_memory_utilization": 80}, "gpu_memory_utilization"),
        ({"port": "8000"}, "port"),
        ({"port": 99999}, "port"),
        ({"max_num_seqs": 0}, "max_num_seqs"),
        ({"max_num_seqs": True}, "max_num_seqs"),
        ({"startup_seconds": "long"}, "startup_seconds"),
        ({"linger_seconds": -1}, "linger_seconds"),
        ({"starts": 0}, "starts"),
        ({"ocr_error": "no"}, "ocr_error"),
        ({"image": None}, "image"),
        ({"model": 5}, "model"),
        ({"image": "--privileged"}, "image"),
    ],
    ids=str,
)
def test_crash_or_wrong_command_from_a_host_fact_of_another_type(facts, key):
    with pytest.raises(EngineUnavailableError, match=rf"server\.{key} is"):
        facts_from(facts)
