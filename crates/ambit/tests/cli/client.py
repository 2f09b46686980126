"""The official SDK against `ambit mcp`, in both eras."""
import asyncio
import sys

from mcp import Client, MCPError, StdioServerParameters


async def main(command: str, mode: str, style: str) -> None:
    server = StdioServerParameters(command=command, args=["mcp", "--style", style])
    async with Client(server, mode=mode) as client:
        def through(name, arguments):
            if style == "dispatch":
                return client.call_tool("call_tool", {"name": name, "arguments": arguments})
            return client.call_tool(name, arguments)

        names = {tool.name for tool in (await client.list_tools()).tools}
        assert ("call_tool" if style == "dispatch" else "files__read_file") in names, names
        read = await through("files__read_file", {"path": "a.txt"})
        assert not read.is_error and read.content[0].text == "hello", read
        refused = await through("files__write_file", {"path": "b.txt", "content": ""})
        assert refused.is_error and refused.content[0].text.startswith("approval_pending"), refused
        assert (await client.list_prompts()).prompts == []
        try:
            await client.call_tool("nope", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool is an error")
    print(mode, style)


for mode in ["legacy", "auto", "2026-07-28"]:
    for style in ["full", "dispatch"]:
        asyncio.run(main(sys.argv[1], mode, style))
