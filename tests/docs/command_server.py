"""Runs the `duilian` commands of pages in forks of one process that has imported everything, to start faster.

python command_server.py SOCKET               # the server
python command_server.py SOCKET ARGUMENT...   # one command, with the streams and the folder of the caller
"""

import contextlib
import importlib
import io
import json
import os
import pkgutil
import signal
import socket
import sys
from typing import NoReturn

MOST = 1 << 20  # bytes of a request


def ask(path: str, arguments: list[str]) -> int:
    """The exit status of a command."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        request = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(connection, [request], [0, 1, 2])
        return connection.recv(1)[0]


def serve(path: str) -> NoReturn:
    """Answer until killed; a line on standard output says when the server is ready."""
    import_all()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                answer(connection)
            connection.close()


def import_all() -> None:
    """Import everything that commands import when they run."""
    import duilian
    from duilian import cli

    for module in pkgutil.walk_packages(duilian.__path__, "duilian."):
        # An integration needs its own extra, and no command imports it.
        if not module.name.endswith("__main__") and ".integrations." not in module.name:
            importlib.import_module(module.name)
    sys.argv = ["duilian", "explain", "--help"]
    with contextlib.redirect_stdout(io.StringIO()):
        cli.main()


def answer(connection: socket.socket) -> NoReturn:
    """Run one command as if this process had been started for it."""
    from duilian import cli

    request, streams, _, _ = socket.recv_fds(connection, MOST, 3)
    arguments, folder, environment = json.loads(request)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    os.chdir(folder)
    os.environ.update(environment)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.argv = ["duilian", *arguments]
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", encoding="utf-8") for stream in (1, 2))
    status = cli.main()
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send(bytes([status]))
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
