"""The real program on a socket: its start, slow connections, and a stop that answers what was accepted."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

SECRET = "王小明的秘密"


class Running(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def ask(self, path: str, question: object = None, *, timeout: float = 30) -> tuple[int, bytes]:
        body = None if question is None else json.dumps(question)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(connection):
            headers = {"content-type": "application/json"}
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def opened(self, sent: bytes) -> socket.socket:
        """A connection that has sent something."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall(sent)
        return connection


@contextlib.contextmanager
def running(*options: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "duilian.cli", "serve", "--port", "0", *options]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", process.stderr.readline())
            assert found is not None
            yield Running(process, int(found[1]))
        finally:
            process.kill()


def test_slow_connections_end_and_block_nobody() -> None:
    head = b"POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
    with running("--seconds", "1.5") as server, contextlib.ExitStack() as stack:
        slow = [
            stack.enter_context(server.opened(part)) for part in [b"", b"POST", head, head + b"\r\n{"] * 50
        ]
        status, body = server.ask("/analyze", {"text": SECRET})
        assert status == 200
        assert json.loads(body)["docs"][0]["text"] == SECRET
        # A client that reads only when it has sent everything still learns why.
        status, body = server.ask("/segment", {"text": "a" * 3_000_000})
        assert (status, json.loads(body)["error"]) == (413, "the request is larger than 1,000,000 bytes")
        answers = [connection.recv(4096) for connection in slow]
    assert answers[:3] == [b"", b"", b""]  # no complete headers: nothing to answer
    assert answers[3].startswith(b"HTTP/1.1 408")
    assert b"did not arrive within 1.5 seconds" in answers[3] or b"408" in answers[3]


def test_too_many_connections() -> None:
    with running("--connections", "2") as server, server.opened(b""), server.opened(b""):
        time.sleep(0.3)
        with server.opened(b"") as third:
            answer = b"".join(iter(lambda: third.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"too many connections" in answer


def test_what_is_not_http_is_answered_with_one_sentence_in_json() -> None:
    request = b"POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    garbage = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9 + b"\r\n\r\n",  # TLS
        bytes(range(256)) * 4,
        "他去北京。\r\n\r\n".encode(),
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000,
        request + b"Content-Length: -1\r\n\r\n{}",
        request + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        request + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n\r\n",
    ]
    with running() as server:
        for sent in garbage:
            with server.opened(sent) as connection:
                head, _, body = b"".join(iter(lambda: connection.recv(4096), b"")).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n"), sent[:60]
            assert json.loads(body) == {"error": "what arrived is not an HTTP request"}, sent[:60]
            assert b"Content-Type: application/json" in head
            assert b"X-Content-Type-Options: nosniff".lower() in head.lower()
        assert server.ask("/segment", {"text": SECRET})[0] == 200


def test_a_stop_answers_what_was_accepted_and_logs_no_text() -> None:
    found: list[tuple[int, bytes]] = []
    with running("--work", "2", "--seconds", "100") as server:
        text = (SECRET + "在北京大学读书，他的朋友都不知道。") * 900  # work for a second, and 900 sentences
        threads = [
            threading.Thread(target=lambda: found.append(server.ask("/analyze", {"text": text})))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        while not re.search(rb"duilian_in_work [1-9]", server.ask("/metrics")[1]):
            assert any(thread.is_alive() for thread in threads), "all were answered before anybody looked"
            time.sleep(0.01)
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        _, said = server.process.communicate(timeout=30)
        assert server.process.returncode == 0
        assert SECRET not in said
    assert [status for status, _ in found] == [200] * 4


def test_a_taken_port_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "duilian.cli", "serve", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['fastapi'] = None; sys.argv = ['duilian', 'serve']; "
    code += "from duilian.cli import main"
    done = subprocess.run(
        [sys.executable, "-c", code + "; raise SystemExit(main())"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "pip install 'duilian[serve]'" in done.stderr
