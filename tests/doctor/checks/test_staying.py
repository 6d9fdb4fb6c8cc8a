import sys

import pytest

from mesero.doctor import examine

SERVER = """
import sys, threading, time, os
sys.path.insert(0, {folder!r})
from lines import answer, requests, write
def later():
    time.sleep(0.3)
    {act}
# That is the last thing that is asked before the pause.
waiting = threading.Thread(target=later, daemon=True)
for request in requests():
    write(answer(request))
    if request["method"] == "ping" and waiting.ident is None:
        waiting.start()
"""
ACTS = [
    ("pass", []),
    ("sys.stderr.write('idle limit\\n'); sys.stderr.flush(); os._exit(1)", ["WATCH-1"]),
    ("global kept; kept = b'x' * 80_000_000", ["WATCH-2"]),
]


@pytest.mark.parametrize(("act", "codes"), ACTS)
async def test_what_a_pause_brings_to_light_is_named(act, codes, tmp_path, request):
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(folder=str(request.config.rootpath / "tests/broken"), act=act))

    report = await examine([sys.executable, str(script)], watch_s=1.5)

    assert [each.code for each in report.diagnoses][: len(codes)] == codes
    assert bool(codes) == bool(report.diagnoses)
