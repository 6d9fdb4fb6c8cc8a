"""An observer of a whole link that writes down what it is told, a tuple each."""


class Link:
    def __init__(self):
        self.told = []

    def __call__(self, direction, raw, http=None):
        self.told.append(("message", direction, raw, http))

    def text(self, direction, raw):
        self.told.append(("text", direction, raw))

    def stderr(self, line):
        self.told.append(("stderr", line))

    def http(self, direction, http, *, body=b"", error=""):
        self.told.append(("http", direction, http, body, error))

    def eof(self, direction, *, exchange=None):
        self.told.append(("eof", direction, exchange))

    def spawn(self, command, *, cwd=None, env=None, pid=None):
        self.told.append(("spawn", command, cwd, env, pid))

    def exit(self, code):
        self.told.append(("exit", code))

    def note(self, text):
        self.told.append(("note", text))

    @property
    def brief(self):
        """What came, in words: kind, direction, and of HTTP the exchange and what it said."""
        return [_brief_of(*event) for event in self.told]


def _brief_of(kind, *what):
    if kind == "message" and what[2] is not None:
        event = " event" if what[2].is_event else ""
        return f"message {what[0]} {what[2].exchange} {what[2].status or what[2].method}{event}"
    if kind == "http":
        said = what[1].status or (what[1].method if what[0] == "c2s" else "nothing")
        return f"http {what[0]} {what[1].exchange} {said}{' error' if what[3] else ''}"
    if kind == "eof":
        return f"eof {what[0]}" + ("" if what[1] is None else f" {what[1]}")
    return f"{kind} {what[0]}" if kind in ("message", "text") else kind
