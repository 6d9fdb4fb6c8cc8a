import base64
import hashlib
import html.parser
import json
import re

from mesero.audit.auditor import Auditor
from mesero.diagram import drawing_html
from mesero.diagram.model import Drawing, Row
from mesero.trace.format import Header, Link
from tests.diagram.browser import open_page
from tests.diagram.recordings import Recording, handshake, long, stateless

HOSTILE = '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><!--\u2028@SCRIPT@'


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.texts, self._open = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self._open = f"{tag} {dict(attributes).get('id', '')}".strip()

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        self.texts[self._open] = self.texts.get(self._open, "") + data


def hostile():
    made = Recording(name=HOSTILE, target=HOSTILE)
    made.ask(HOSTILE, "tools/call", name=HOSTILE, arguments={HOSTILE: HOSTILE})
    made.refuse(HOSTILE, -32602, HOSTILE)
    made.s2c(HOSTILE)
    made.tell(HOSTILE)
    return made


def test_the_page_has_one_script_one_style_and_the_data():
    page = Elements(drawing_html(stateless().draw()))
    tags = [tag for tag, _ in page.found]
    assert (tags.count("script"), tags.count("style"), tags.count("img"), tags.count("link")) == (2, 1, 0, 0)
    document = json.loads(page.texts["script drawing"])
    assert document["drawing"]["messages"] == 19
    assert document["glossary"]["tools/call"]["title"] == "Call a tool"
    assert "error -32602" in document["glossary"]


def test_the_policy_allows_this_script_and_style_and_nothing_else():
    page = Elements(drawing_html(Drawing()))
    policy = next(
        at["content"] for tag, at in page.found if at.get("http-equiv") == "Content-Security-Policy"
    )
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_nothing_recorded_gets_out_of_the_data():
    text = drawing_html(hostile().draw(name=HOSTILE, auditor=Auditor(), problems=[HOSTILE]))
    page = Elements(text)
    assert [tag for tag, _ in page.found].count("script") == 2
    data = page.texts["script drawing"]
    assert not re.search("[<>&\u2028\u2029]", data)
    rows = json.loads(data)["drawing"]["rows"]
    assert any(HOSTILE.partition("<!")[0] in row.get("raw", "") for row in rows)


def test_halves_of_surrogate_pairs_become_question_marks():
    row = Row(seq=1, t=0.0, link="1", kind="text", raw="a\ud800b")
    assert '"raw":"a?b"' in drawing_html(Drawing(rows=(row,), links=()))


async def test_a_small_recording_is_drawn_and_looked_into(tmp_path):
    drawing = long(50).draw(auditor=Auditor())
    async with open_page(tmp_path, drawing_html(drawing)) as page:
        assert await page.run("document.getElementById('shown').textContent") == "50 lines"
        drawn = await page.run("document.querySelectorAll('.row').length")
        assert 25 <= drawn <= 51
        await page.run("document.querySelector('.row.request').click()")
        assert "specification" in await page.run("document.getElementById('message').textContent")
        assert await page.run("document.getElementById('message').hidden") is False
        assert await page.run("document.querySelectorAll('.row.select').length") == 1
        assert await page.run("document.querySelectorAll('.row.relate').length") == 1
        assert '"jsonrpc"' in await page.run("document.querySelector('#message pre').textContent")
        assert page.said("Runtime.exceptionThrown", "Log.entryAdded") == []


async def test_phases_groups_gaps_and_findings_are_in_their_place(tmp_path):
    async with open_page(tmp_path, drawing_html(stateless().draw(auditor=Auditor()))) as page:
        titles = await page.run(
            "[...document.querySelectorAll('.phase .title')].map((each) => each.textContent)"
        )
        assert titles == ["discover", "operation"]
        assert await page.run("document.querySelectorAll('.row.gap').length") == 2
        assert await page.run("document.querySelectorAll('.marks .top').length") == 2
        pills = await page.run("[...document.querySelectorAll('.pill')].map((each) => each.textContent)")
        assert pills == ["subscription", "2 rounds"]
        assert await page.run("document.querySelectorAll('.flag span').length") >= 1
        assert await page.run("document.querySelectorAll('svg .dot').length") == 6
        await page.run("document.querySelector('svg .dot.bad').dispatchEvent(new MouseEvent('click'))")
        assert "the tool failed" in await page.run("document.getElementById('message').textContent")


async def test_what_went_wrong_comes_first(tmp_path):
    async with open_page(tmp_path, drawing_html(handshake().draw(auditor=Auditor()))) as page:
        assert await page.run("document.querySelector('#overview h2').textContent") == "What went wrong"
        await page.run("document.querySelector('#overview .link').click()")
        assert await page.run("document.querySelectorAll('.row.select').length") == 1


def several(count):
    made = Recording()
    links = {str(number): Link(name=f"server {number}") for number in range(1, count + 1)}
    made.header = Header(links=links)
    for number in links:
        made.link = number
        made.ask(1, "tools/list")
        made.give(1, tools=[])
    return made


async def test_each_server_has_its_lifeline_while_there_is_room(tmp_path):
    names = "[...document.querySelectorAll('#lanes span')].map((each) => each.textContent)"
    async with open_page(tmp_path, drawing_html(several(3).draw())) as page:
        assert await page.run(names) == ["client", "server 1", "server 2", "server 3"]
        places = await page.run(
            "[...document.querySelectorAll('.request .arrow')].map((each) => each.clientWidth)"
        )
        assert places[0] < places[1] < places[2]
        await page.run(
            "(() => { const box = document.getElementById('link'); box.value = '2';"
            " box.dispatchEvent(new Event('change')); })()"
        )
        assert await page.run("document.getElementById('shown').textContent") == "2 of 6 lines"


async def test_many_servers_share_one_and_are_named(tmp_path):
    async with open_page(tmp_path, drawing_html(several(7).draw())) as page:
        assert await page.run("document.querySelectorAll('#lanes span').length") == 2
        assert await page.run("document.querySelector('.whose').textContent") == "server 1"


async def test_search_and_filters_choose_what_is_shown(tmp_path):
    async with open_page(tmp_path, drawing_html(stateless().draw())) as page:
        await page.run(
            "(() => { const box = document.getElementById('search'); box.value = 'MONDAY';"
            " box.dispatchEvent(new Event('input')); })()"
        )
        await page.until("document.getElementById('shown').textContent === '2 of 20 lines'")
        await page.run(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
        )
        await page.until("document.getElementById('shown').textContent === '20 lines'")
        await page.run(
            "[...document.querySelectorAll('#chips button')]"
            ".find((each) => each.textContent === 'Only errors').click()"
        )
        assert await page.run("document.getElementById('shown').textContent") == "4 of 20 lines"
        await page.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))")
        assert await page.run("document.querySelector('.row.select').textContent.includes('✗')")


async def test_hostile_text_stays_text(tmp_path):
    text = drawing_html(hostile().draw(name=HOSTILE, auditor=Auditor(), problems=[HOSTILE]))
    async with open_page(tmp_path, text) as page:
        for number in range(await page.run("document.querySelectorAll('.row').length")):
            await page.run(f"document.querySelectorAll('.row')[{number}].click()")
        assert await page.run("typeof window.pwned") == "undefined"
        assert await page.run("document.querySelectorAll('img, script').length") == 2
        requests = page.said("Network.requestWillBeSent")
        assert {each["params"]["request"]["url"].partition(":")[0] for each in requests} <= {"file"}


async def test_what_gets_in_all_the_same_is_not_run(tmp_path):
    text = drawing_html(Drawing()).replace("<main>", "<script>window.pwned = 1</script><main>")
    async with open_page(tmp_path, text) as page:
        assert await page.run("typeof window.pwned") == "undefined"


async def test_twenty_thousand_messages_are_drawn_as_far_as_they_are_seen(tmp_path):
    drawing = long(20_000).draw()
    async with open_page(tmp_path, drawing_html(drawing)) as page:
        assert await page.run("document.getElementById('shown').textContent") == "20,000 lines"
        await page.run("document.getElementById('sequence').scrollTop = 300000")
        await page.until("Number(document.querySelector('.row').dataset.index) > 9000")
        assert await page.run("document.querySelectorAll('.row').length") < 100
        await page.run(
            "(() => { const box = document.getElementById('search'); box.value = 'disk full';"
            " box.dispatchEvent(new Event('input')); })()"
        )
        errors = sum(row.bad == "error" for row in drawing.rows)
        await page.until(f"document.getElementById('shown').textContent === '{errors} of 20,000 lines'")
        await page.run("document.querySelector('.row.error').click()")
        assert "disk full" in await page.run("document.getElementById('message').textContent")
