// A client on the TypeScript SDK 2.x: `MODE stdio COMMAND…`, `MODE http URL` or `MODE sse URL`, where MODE is
// how it chooses the era: `auto` probes, `legacy` shakes hands at once. Prints what it saw.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, way, ...target] = process.argv.slice(2);

function openTransport() {
  if (way === "stdio") return new StdioClientTransport({ command: target[0], args: target.slice(1) });
  const Transport = way === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(new URL(target[0]));
}

const client = new Client(
  { name: "ts2", version: "1.0.0" },
  { capabilities: { sampling: {} }, versionNegotiation: { mode } },
);
client.setRequestHandler("sampling/createMessage", async () => ({
  role: "assistant",
  content: { type: "text", text: "Hello." },
  model: "none",
}));
await client.connect(openTransport());
const { tools } = await client.listTools();
const added = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
const failed = await client.callTool({ name: "fail", arguments: {} });
const note = await client.readResource({ uri: "note://one" });
const steps = [];
await client.callTool({ name: "count", arguments: {} }, { onprogress: ({ progress }) => steps.push(progress) });
const late = await client.callTool({ name: "slow", arguments: {} }, { timeout: 500 }).then(
  () => "not at all",
  (error) => String(error),
);
const again = await client.callTool({ name: "add", arguments: { a: 3, b: 4 } });
const asked = await client.callTool({ name: "ask", arguments: {} }).then(
  (result) => result.content[0].text,
  (error) => String(error),
);
const seen = {
  revision: client.getNegotiatedProtocolVersion(),
  tools: tools.map((tool) => tool.name),
  sum: added.content[0].text,
  error: failed.isError ? failed.content[0].text : "",
  note: note.contents[0].text,
  asked,
  steps,
  late,
  again: again.content[0].text,
};
await client.close();
console.log(JSON.stringify(seen));
