"""The protocol below the features: lifecycle, malformed input, cancellation."""
import json
import pathlib
import signal
import subprocess

import pytest

from client import PROGRAM, SECONDS, File, Server, ServerError, frame

RING = "collective ring(in x: T[n], out y: T[n])\n  ensures y == x\n{\n  copy x to y;\n}\n"


def test_initialize_lists_what_the_server_can():
    server = Server()
    result = server.initialize()
    assert result["serverInfo"]["name"] == "colldsl"
    able = result["capabilities"]
    assert able["positionEncoding"] == "utf-16"
    assert able["textDocumentSync"] == {"openClose": True, "change": 2}
    for feature in ("hover", "definition", "references", "documentFormatting", "documentSymbol"):
        assert able[feature + "Provider"] is True
    assert able["renameProvider"] == {"prepareProvider": True}
    assert able["executeCommandProvider"]["commands"] == ["colldsl.showCounterexample"]
    assert server.end() == 0


def test_utf_8_is_taken_where_it_is_offered():
    server = Server("--no-proofs")
    result = server.initialize({"general": {"positionEncodings": ["utf-8", "utf-16"]}})
    assert result["capabilities"]["positionEncoding"] == "utf-8"
    file = File(server, "// \U0001d11e\u00e4\n" + RING + "/* \U0001d11e */ functio f() = 1;")
    place = file.diagnostics()[0]["range"]["start"]
    assert place["character"] == len("/* \U0001d11e */ ".encode())
    assert server.end() == 0


@pytest.mark.parametrize("method", ["textDocument/hover", "shutdown", "nothing/known"])
def test_requests_before_initialize_are_refused(method):
    server = Server()
    with pytest.raises(ServerError) as error:
        server.ask(method)
    assert error.value.code == -32002
    server.initialize()
    assert server.end() == 0


def test_initialize_twice_and_requests_after_shutdown_are_refused():
    server = Server()
    server.initialize()
    with pytest.raises(ServerError) as error:
        server.ask("initialize")
    assert error.value.code == -32600
    server.ask("shutdown")
    with pytest.raises(ServerError) as error:
        server.ask("textDocument/hover")
    assert error.value.code == -32600
    server.notify("exit")
    assert server.finish() == 0


def test_unknown_methods(server):
    with pytest.raises(ServerError) as error:
        server.ask("textDocument/foldingRange")
    assert error.value.code == -32601 and "textDocument/foldingRange" in error.value.message
    server.notify("$/setTrace", {"value": "off"})
    server.notify("no/such/notification")
    assert server.ask("textDocument/hover", File(server, RING).at("copy")) is not None


def test_exit_without_shutdown_fails():
    server = Server()
    server.initialize()
    server.notify("exit")
    assert server.finish() == 1


def test_the_end_of_the_stream_ends_the_server():
    server = Server()
    server.initialize()
    File(server, RING)
    assert server.finish() == 1


def test_a_client_that_dies_within_a_message():
    server = Server()
    server.initialize()
    server.send_bytes(b"Content-Length: 1000\r\n\r\n{\"jsonrpc\"")
    assert server.finish() == 1


def test_a_client_that_reads_no_more():
    process = subprocess.Popen([PROGRAM, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.close()
    for number in range(50):
        process.stdin.write(frame({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": {}}))
    process.stdin.close()
    assert process.wait(timeout=SECONDS) == 1  # and not by SIGPIPE


def error_answer(server):
    while True:
        message = server.messages.get(timeout=SECONDS)
        if "error" in message:
            return message


@pytest.mark.parametrize("content, code", [
    (b"{", -32700),
    (b"\xff\xfe", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xe4"}', -32700),
    (b"[" * 100_000, -32700),
    (b"[]", -32600),
    (b"17", -32600),
    (b"{}", -32600),
    (b'{"jsonrpc": "1.0", "id": 5, "method": "shutdown"}', -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": 5}', -32600),
    (b'{"jsonrpc": "2.0"}', -32600),
])
def test_malformed_messages_get_an_error(server, content, code):
    server.send_bytes(frame(content))
    answer = error_answer(server)
    assert answer["error"]["code"] == code
    assert answer["id"] in (None, 5)
    assert server.ask("textDocument/hover", File(server, RING).at("copy")) is not None  # it goes on


@pytest.mark.parametrize("headers", [
    b"Content-Length: much\r\n\r\n{}", b"Content-Length: -3\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n",
    b"Content-Type: a\r\n\r\n{}", b"x" * 100_000 + b"\r\n\r\n"])
def test_malformed_headers_end_the_server(headers):
    server = Server()
    server.initialize()
    server.send_bytes(headers)
    assert error_answer(server)["error"]["code"] == -32700
    assert server.finish() == 1


def test_headers_in_any_order_and_case():
    server = Server()
    content = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).encode()
    server.send_bytes(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: %d\r\n\r\n%s"
                      % (len(content), content))
    assert server.answer_to(1)["serverInfo"]["name"] == "colldsl"
    assert server.end() == 0


@pytest.mark.parametrize("params", [
    {}, {"textDocument": {}}, {"textDocument": {"uri": 4}}, {"textDocument": []},
    {"textDocument": {"uri": "file:///not/open.coll"}, "position": {"line": 0, "character": 0}},
    {"textDocument": {"uri": "file:///nowhere/ring.coll"}},
    {"textDocument": {"uri": "file:///nowhere/ring.coll"}, "position": {"line": -1, "character": 0}},
    {"textDocument": {"uri": "file:///nowhere/ring.coll"}, "position": {"line": "a", "character": 0}},
])
def test_parameters_that_make_no_sense(server, params):
    File(server, RING)
    with pytest.raises(ServerError) as error:
        server.ask("textDocument/hover", params)
    assert error.value.code == -32602


def test_positions_out_of_the_text_are_clamped(server):
    file = File(server, RING)
    for position in ({"line": 10_000, "character": 0}, {"line": 0, "character": 10_000},
                     {"line": 2**40, "character": 2**40}):
        server.ask("textDocument/hover", {**file.document, "position": position})


def test_notifications_that_make_no_sense_change_nothing(server):
    file = File(server, RING)
    server.notify("textDocument/didOpen", {"textDocument": {"uri": 1}})
    server.notify("textDocument/didChange", {**file.document, "contentChanges": [{"text": 4}]})
    server.notify("textDocument/didChange", {**file.document, "contentChanges": [
        {"text": "", "range": {"start": {"line": 0}}}]})
    server.notify("textDocument/didChange", {"textDocument": {"uri": "file:///x"}, "contentChanges": []})
    server.notify("textDocument/didClose", {"textDocument": {"uri": "file:///x"}})
    assert file.ask("definition", "x to y") is not None


def test_a_request_that_waits_can_be_cancelled(server):
    text = "".join(f"function f{i}(a: int) = a + {i};\n" for i in range(3000))
    file = File(server, text)
    messages = b""
    for number in (1001, 1002):  # the first takes a while, as the text is analysed
        messages += frame({"jsonrpc": "2.0", "id": number, "method": "textDocument/hover",
                           "params": file.at("f1(")})
    messages += frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1002}})
    messages += frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "unknown"}})
    server.send_bytes(messages)
    assert "f1" in str(server.answer_to(1001))
    with pytest.raises(ServerError) as error:
        server.answer_to(1002)
    assert error.value.code == -32800


def test_help_and_operands():
    shown = subprocess.run([PROGRAM, "lsp", "--help"], capture_output=True, text=True)
    assert shown.returncode == 0 and "--no-proofs" in shown.stdout
    refused = subprocess.run([PROGRAM, "lsp", "a.coll"], capture_output=True, text=True)
    assert refused.returncode == 2 and refused.stdout == ""
    for option in ("--print-after-all", "--time-passes"):
        for words in ([option], ["--passes", "default", option]):
            refused = subprocess.run([PROGRAM, "lsp", *words], capture_output=True, text=True)
            assert refused.returncode in (1, 2) and option in refused.stderr


def test_the_files_of_a_killed_server_are_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "colldsl-lsp-other").write_text("no folder")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "colldsl-lsp-link").symlink_to(tmp_path / "elsewhere")

    def with_files():
        server = Server("--no-proofs")
        server.initialize()
        file = File(server, "collective f(inout x: T[n]) { bcast_kary(x); }\n")
        return server, pathlib.Path(file.ask("definition", "bcast_kary")["uri"].removeprefix("file://"))

    killed, abandoned = with_files()
    living, kept = with_files()
    assert abandoned.exists() and abandoned.parent != kept.parent
    killed.process.kill()
    killed.process.wait(timeout=SECONDS)
    last = Server("--no-proofs")
    last.initialize()
    assert not abandoned.parent.parent.exists() and kept.exists()
    assert last.end() == 0 and living.end() == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["colldsl-lsp-link", "colldsl-lsp-other", "elsewhere"]


def test_a_signal_ends_the_server_which_leaves_no_files():
    server = Server("--no-proofs")
    server.initialize()
    file = File(server, "collective f(inout x: T[n]) { bcast_kary(x); }\n")
    path = pathlib.Path(file.ask("definition", "bcast_kary")["uri"].removeprefix("file://"))
    assert path.exists()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=SECONDS) == 1
    assert not path.exists()
