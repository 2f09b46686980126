// The official TypeScript SDK against `ambit serve`, in both eras.
import assert from "node:assert/strict";

const [, , sdk, url] = process.argv;
const { Client, StreamableHTTPClientTransport } = await import(sdk);

async function check(mode, era) {
  const client = new Client({ name: "sdk", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  assert.equal(client.getProtocolEra(), era);

  const tools = (await client.listTools()).tools.map((it) => it.name);
  assert(tools.includes("files__read_file") && tools.includes("fixture__test_simple_text"), tools);
  const said = await client.callTool({ name: "fixture__test_simple_text", arguments: {} });
  assert(!said.isError && said.content[0].text.startsWith("This is a simple text"), JSON.stringify(said));
  const write = { path: "b.txt", content: "" };
  const refused = await client.callTool({ name: "files__write_file", arguments: write });
  assert(refused.isError && refused.content[0].text.startsWith("approval_pending"), JSON.stringify(refused));

  const resources = (await client.listResources()).resources.map((it) => it.uri);
  assert(resources.includes("test://static-text"), resources);
  const read = await client.readResource({ uri: "test://static-text" });
  assert(read.contents[0].text.startsWith("This is the content"), JSON.stringify(read));
  const prompts = (await client.listPrompts()).prompts.map((it) => it.name);
  assert(prompts.includes("fixture__test_prompt_with_arguments"), prompts);
  const wanted = { name: "fixture__test_prompt_with_arguments", arguments: { arg1: "one", arg2: "two" } };
  const prompt = await client.getPrompt(wanted);
  assert(prompt.messages[0].content.text.includes("arg1='one', arg2='two'"), JSON.stringify(prompt));
  await assert.rejects(client.callTool({ name: "nope", arguments: {} }), { code: -32602 });
  await client.close();
  console.log(era);
}

for (const [mode, era] of [["legacy", "legacy"], ["auto", "modern"], [{ pin: "2026-07-28" }, "modern"]]) {
  await check(mode, era);
}
