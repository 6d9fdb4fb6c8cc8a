"""A headless Chromium, driven over its own protocol: to see what the page really does."""

import asyncio
import contextlib
import itertools
import shutil

import aiohttp
import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,900",
    "--remote-debugging-port=0",
]
START_S = 60
STEP_S = 60


def chromium():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


class Page:
    """One page: `run` evaluates a script in it, `until` waits for one to be true, `said` is what it told."""

    def __init__(self, socket):
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events = []

    async def command(self, method, **params):
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            answer = await asyncio.wait_for(self._socket.receive_json(), STEP_S)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    async def run(self, script):
        result = await self.command(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def until(self, script):
        look = f"({script}) ? done(true) : setTimeout(look, 10)"
        assert await self.run(f"new Promise((done) => {{ const look = () => {look}; look(); }})")

    async def open(self, path):
        await self.command("Page.enable")
        await self.command("Runtime.enable")
        await self.command("Network.enable")
        await self.command("Log.enable")
        await self.command("Page.navigate", url=path.as_uri())
        await self.until("document.documentElement && document.documentElement.dataset.ready === 'true'")

    def said(self, *methods):
        return [event for event in self.events if event.get("method") in methods]


@contextlib.asynccontextmanager
async def open_page(folder, html):
    """The page of this text, drawn."""
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    profile = folder / "profile"
    process = await asyncio.create_subprocess_exec(
        chromium(),
        *FLAGS,
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = await asyncio.wait_for(_port_of(profile / "DevToolsActivePort"), START_S)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                targets = await answer.json()
            address = next(each["webSocketDebuggerUrl"] for each in targets if each["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                await page.open(path)
                yield page
                await socket.send_json({"id": 0, "method": "Browser.close"})
        await asyncio.wait_for(process.wait(), START_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _port_of(file):
    while not (file.exists() and file.read_text().strip()):  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(0.02)
    return int(file.read_text().split()[0])
