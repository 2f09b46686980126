// The official TypeScript SDK against `ambit mcp`, in both eras.
import assert from "node:assert/strict";

const [, , sdk, command] = process.argv;
const { Client } = await import(sdk);
const { StdioClientTransport } = await import(new URL("stdio.mjs", `file://${sdk}`).href);

async function check(mode, era, style) {
  const client = new Client({ name: "sdk", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command, args: ["mcp", "--style", style] }));
  assert.equal(client.getProtocolEra(), era);
  const through = (name, input) =>
    style === "dispatch"
      ? client.callTool({ name: "call_tool", arguments: { name, arguments: input } })
      : client.callTool({ name, arguments: input });

  const names = (await client.listTools()).tools.map((it) => it.name);
  assert(names.includes(style === "dispatch" ? "call_tool" : "files__read_file"), names);
  const read = await through("files__read_file", { path: "a.txt" });
  assert(!read.isError && read.content[0].text === "hello", JSON.stringify(read));
  const refused = await through("files__write_file", { path: "b.txt", content: "" });
  assert(refused.isError && refused.content[0].text.startsWith("approval_pending"), JSON.stringify(refused));
  await assert.rejects(client.callTool({ name: "nope", arguments: {} }), { code: -32602 });
  await client.close();
  console.log(era, style);
}

for (const [mode, era] of [["legacy", "legacy"], ["auto", "modern"], [{ pin: "2026-07-28" }, "modern"]]) {
  for (const style of ["full", "dispatch"]) {
    await check(mode, era, style);
  }
}
