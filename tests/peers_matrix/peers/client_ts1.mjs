// A client on the TypeScript SDK 1.x: `PACKAGE stdio COMMAND…`, `PACKAGE http URL` or `PACKAGE sse URL`.
// PACKAGE is the name that the SDK is installed under. Prints what it saw.

const [sdk, way, ...target] = process.argv.slice(2);
const load = (path) => import(`${sdk}/${path}`);
const { Client } = await load("client/index.js");
const { CreateMessageRequestSchema } = await load("types.js");

async function openTransport() {
  if (way === "stdio") {
    const { StdioClientTransport } = await load("client/stdio.js");
    return new StdioClientTransport({ command: target[0], args: target.slice(1) });
  }
  if (way === "sse") {
    const { SSEClientTransport } = await load("client/sse.js");
    return new SSEClientTransport(new URL(target[0]));
  }
  const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
  return new StreamableHTTPClientTransport(new URL(target[0]));
}

const client = new Client({ name: "ts1", version: "1.0.0" }, { capabilities: { sampling: {} } });
client.setRequestHandler(CreateMessageRequestSchema, async () => ({
  role: "assistant",
  content: { type: "text", text: "Hello." },
  model: "none",
}));
const transport = await openTransport();
// Only HTTP transports are told; the client itself keeps the revision to itself.
let revision = "";
const tell = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  revision = version;
  tell?.(version);
};
await client.connect(transport);
const { tools } = await client.listTools();
const added = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
const failed = await client.callTool({ name: "fail", arguments: {} });
const note = await client.readResource({ uri: "note://one" });
const steps = [];
await client.callTool({ name: "count", arguments: {} }, undefined, { onprogress: ({ progress }) => steps.push(progress) });
const late = await client.callTool({ name: "slow", arguments: {} }, undefined, { timeout: 500 }).then(
  () => "not at all",
  (error) => String(error),
);
const again = await client.callTool({ name: "add", arguments: { a: 3, b: 4 } });
const asked = await client.callTool({ name: "ask", arguments: {} }).then(
  (result) => result.content[0].text,
  (error) => String(error),
);
await client.ping();
await transport.terminateSession?.();
await client.close();
const seen = {
  revision,
  tools: tools.map((tool) => tool.name),
  sum: added.content[0].text,
  error: failed.isError ? failed.content[0].text : "",
  note: note.contents[0].text,
  asked,
  steps,
  late,
  again: again.content[0].text,
};
console.log(JSON.stringify(seen));
