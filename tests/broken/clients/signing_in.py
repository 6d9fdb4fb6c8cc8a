"""Clients that sign in wrongly. The authorization server is at the origin of the server, behind the proxy."""

from tests.broken.clients.starting import LATEST, asked, hello

BACK = "http://127.0.0.1:7890/callback"
SCOPE = "files:read"
METADATA = "/.well-known/oauth-protected-resource/mcp"


class SignIn:
    """The steps of signing in, as a client that does them right takes them."""

    def __init__(self, wire):
        self.wire = wire
        self.refresh_token = ""

    async def discover(self):
        assert (await self.wire.post(asked(0, "initialize", hello(LATEST)))).status == 401
        document = (await self.wire.send("GET", METADATA)).json
        await self.wire.send("GET", "/.well-known/oauth-authorization-server")
        self.resource = document["resource"]

    async def register(self):
        body = b'{"client_name":"client","redirect_uris":["' + BACK.encode() + b'"]}'
        answer = await self.wire.send("POST", "/register", body=body, Content_Type="application/json")
        return answer.json["client_id"]

    async def authorize(self, client_id, scope=SCOPE):
        answer = await self.wire.visit(
            "/authorize",
            response_type="code",
            client_id=client_id,
            redirect_uri=BACK,
            resource=self.resource,
            scope=scope,
            state="s-0123456789",
            code_challenge="c",
            code_challenge_method="S256",
        )
        return answer.headers.get("location", "").partition("code=")[2].partition("&")[0]

    async def redeem(self, client_id, code):
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
        return self._take(
            await self.wire.form(
                "/token", **fields, client_id=client_id, code_verifier="v", resource=self.resource
            )
        )

    async def refresh(self, client_id, token):
        fields = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client_id}
        return self._take(await self.wire.form("/token", **fields, resource=self.resource))

    def _take(self, answer):
        if answer.status == 200:
            self.wire.headers["Authorization"] = f"Bearer {answer.json['access_token']}"
            self.refresh_token = answer.json["refresh_token"]
        return answer

    async def whole(self, scope=SCOPE):
        await self.discover()
        client_id = await self.register()
        await self.redeem(client_id, await self.authorize(client_id, scope))
        return client_id


async def use(wire, number=1):
    """Two requests to the server, which is of the older era and knows no sessions."""
    await wire.post(asked(number, "initialize", hello(LATEST)))
    wire.headers["MCP-Protocol-Version"] = "2025-06-18"
    await wire.post({"method": "notifications/initialized"})
    return await wire.post(asked(number + 1, "tools/list"))


async def keeps_a_forgotten_registration(wire):
    """P100: the server dropped the registration; the client uses it for ever."""
    steps = SignIn(wire)
    await steps.discover()
    for _ in range(2):
        assert await steps.authorize("client-of-last-year") == ""


async def redeems_with_a_forgotten_registration(wire):
    """P100: the browser gets its page, and the token is refused."""
    steps = SignIn(wire)
    await steps.discover()
    code = await steps.authorize(await steps.register())
    assert (await steps.redeem("client-of-last-year", code)).status == 401


async def sends_an_expired_token(wire):
    """P102: does not try the refresh token that it has."""
    await SignIn(wire).whole()
    await use(wire)
    await wire.send("POST", "/expire")
    for number in (3, 4):
        assert (await wire.post(asked(number, "tools/list"))).status == 401


async def refreshes_twice(wire):
    """P102: two processes of one client use the same refresh token."""
    steps = SignIn(wire)
    client_id = await steps.whole()
    await use(wire)
    await wire.send("POST", "/expire")
    shared = steps.refresh_token
    assert (await steps.refresh(client_id, shared)).status == 200
    assert (await steps.refresh(client_id, shared)).status == 400


async def asks_for_an_unknown_scope(wire):
    """P103: asks for what it asks everybody for."""
    steps = SignIn(wire)
    await steps.discover()
    assert await steps.authorize(await steps.register(), "openid profile") == ""


async def asks_for_too_little(wire):
    """P103: gets a token that can do nothing, and leaves it at that."""
    steps = SignIn(wire)
    await steps.whole("files:list")
    answer = await wire.post(asked(1, "initialize", hello(LATEST)))
    assert answer.status == 403


# -- in order ------------------------------------------------------------------------------------------------


async def signs_in(wire):
    """As it should be, with a token that expires and is refreshed."""
    steps = SignIn(wire)
    client_id = await steps.whole()
    assert (await use(wire)).status == 200
    await wire.send("POST", "/expire")
    assert (await wire.post(asked(3, "tools/list"))).status == 401
    assert (await steps.refresh(client_id, steps.refresh_token)).status == 200
    assert (await wire.post(asked(4, "tools/list"))).status == 200


async def registers_again(wire):
    """As it should be, when the server has forgotten the registration."""
    steps = SignIn(wire)
    await steps.discover()
    assert await steps.authorize("client-of-last-year") == ""
    client_id = await steps.register()
    await steps.redeem(client_id, await steps.authorize(client_id))
    assert (await use(wire)).status == 200


async def steps_up(wire):
    """As it should be, when a token turns out to be too weak."""
    steps = SignIn(wire)
    client_id = await steps.whole("files:list")
    assert (await wire.post(asked(1, "initialize", hello(LATEST)))).status == 403
    await steps.redeem(client_id, await steps.authorize(client_id, "files:list files:read"))
    assert (await use(wire, 2)).status == 200
