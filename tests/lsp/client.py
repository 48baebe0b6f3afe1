"""A client of the Language Server Protocol, for tests: what an editor sends, and what comes back."""
import json
import os
import pathlib
import queue
import subprocess
import threading

PROGRAM = os.environ["COLLDSL_PROGRAM"]
SECONDS = float(os.environ.get("COLLDSL_LSP_SECONDS", "120"))  # a loaded machine, a build with sanitizers

ABILITIES = {
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "completion": {"completionItem": {"documentationFormat": ["markdown"]}},
        "signatureHelp": {"signatureInformation": {"documentationFormat": ["markdown"],
                                                   "parameterInformation": {"labelOffsetSupport": True}}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"relatedInformation": True},
    },
    "workspace": {"codeLens": {"refreshSupport": True}},
}


class ServerError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]


def frame(message):
    content = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(content), content)


class Server:
    """The process, and the messages that it sends."""

    def __init__(self, *options):
        self.process = subprocess.Popen([PROGRAM, "lsp", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.messages = queue.Queue()  # None at the end
        self.stash = []                # that were not waited for
        self.seen = []                 # all but answers
        self.answers = {}
        self.asked = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        stream = self.process.stdout
        while header := stream.readline():
            length = None
            while header.strip():
                name, value = header.decode().split(":")
                assert name == "Content-Length", f"no header: {header!r}"
                length = int(value)
                header = stream.readline()
            self.messages.put(json.loads(stream.read(length)))
        self.messages.put(None)

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(frame({"jsonrpc": "2.0", **message}))

    def notify(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def begin(self, method, params=None):
        self.asked += 1
        self.send({"id": self.asked, "method": method, "params": params or {}})
        return self.asked

    def ask(self, method, params=None):
        """The result of a request; raises ServerError."""
        return self.answer_to(self.begin(method, params))

    def answer_to(self, number):
        while number not in self.answers:
            self._take()
        answer = self.answers.pop(number)
        if "error" in answer:
            raise ServerError(answer["error"])
        return answer["result"]

    def _take(self):
        message = self.messages.get(timeout=SECONDS)
        assert message is not None, f"the server ended: {self.process.wait()} {self.process.stderr.read()!r}"
        if "id" in message and "method" not in message:
            self.answers[message["id"]] = message
            return
        if "id" in message:  # a request of the server
            self.send({"id": message["id"], "result": None})
        self.stash.append(message)
        self.seen.append(message)

    def wait_for(self, method, fits=lambda params: True):
        """The parameters of the next message of a method that fit. Earlier ones are dropped."""
        while True:
            for i, message in enumerate(self.stash):
                if message.get("method") == method and fits(message["params"]):
                    self.stash = self.stash[i + 1:]
                    return message["params"]
            self._take()

    def initialize(self, abilities=None, **more):
        result = self.ask("initialize", {"processId": os.getpid(), "rootUri": None,
                                         "capabilities": ABILITIES if abilities is None else abilities, **more})
        self.notify("initialized")
        return result

    def end(self):
        """shutdown and exit; the exit code. What the server wrote besides messages is an error."""
        self.ask("shutdown")
        self.notify("exit")
        return self.finish()

    def finish(self):
        self.process.stdin.close()
        code = self.process.wait(timeout=SECONDS)
        assert self.process.stderr.read() == b""
        return code


class File:
    """A document that is open in the server. In its text `^` marks the place of at()."""

    def __init__(self, server, text, path="/nowhere/ring.coll", uri=None):
        self.server = server
        self.uri = uri or pathlib.Path(path).as_uri()
        self.version = 1
        self.mark = text.find("^")
        self.text = text.replace("^", "", 1)
        server.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri, "languageId": "colldsl", "version": 1, "text": self.text}})

    @property
    def document(self):
        return {"textDocument": {"uri": self.uri}}

    def position(self, offset):
        """Of an offset in characters, in UTF-16."""
        before = self.text[:offset]
        line = before.count("\n")
        start = before.rfind("\n") + 1
        return {"line": line, "character": len(before[start:].encode("utf-16-le")) // 2}

    def at(self, what=None, inside=0):
        """The parameters for a place: of the mark, or of the first occurrence of a text."""
        offset = self.mark if what is None else self.text.index(what) + inside
        return {**self.document, "position": self.position(offset)}

    def ask(self, method, what=None, inside=0, **more):
        return self.server.ask("textDocument/" + method, {**self.at(what, inside), **more})

    def replace_all(self, text):
        self.mark = text.find("^")
        self.text = text.replace("^", "", 1)
        self.change([{"text": self.text}])

    def change(self, changes):
        self.version += 1
        self.server.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes})

    def diagnostics(self, fits=lambda list: True):
        """The diagnostics of this version; those that fit, as proofs add to them later."""
        found = self.server.wait_for(
            "textDocument/publishDiagnostics",
            lambda p: p["uri"] == self.uri and p.get("version") == self.version and fits(p["diagnostics"]))
        return found["diagnostics"]

    def text_of(self, range):
        lines = self.text.split("\n")
        start, end = range["start"], range["end"]
        assert start["line"] == end["line"]
        units = lines[start["line"]].encode("utf-16-le")
        return units[start["character"] * 2:end["character"] * 2].decode("utf-16-le")

    def applied(self, edits):
        """The text after edits in it."""
        text = self.text
        for edit in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]),
                           reverse=True):
            begin, end = (self.offset(edit["range"][side]) for side in ("start", "end"))
            text = text[:begin] + edit["newText"] + text[end:]
        return text

    def offset(self, position):
        lines = self.text.split("\n")
        if position["line"] >= len(lines):
            return len(self.text)
        line = lines[position["line"]]
        prefix = line.encode("utf-16-le")[:position["character"] * 2].decode("utf-16-le")
        return sum(len(one) + 1 for one in lines[:position["line"]]) + len(prefix)
