"""The official SDK against `ambit serve`, in both eras."""
import asyncio
import sys

from mcp import Client, MCPError


async def main(url: str, mode: str) -> None:
    async with Client(url, mode=mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "files__read_file" in names, names
        reads = [client.call_tool("files__read_file", {"path": "a.txt"}) for _ in range(20)]
        for read in await asyncio.gather(*reads):
            assert not read.is_error and read.content[0].text == "hello", read
        refused = await client.call_tool("files__write_file", {"path": "b.txt", "content": ""})
        assert refused.is_error and refused.content[0].text.startswith("approval_pending"), refused
        try:
            await client.call_tool("nope", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool is an error")
    print(mode)


for mode in ["legacy", "auto", "2026-07-28"]:
    asyncio.run(main(sys.argv[1], mode))
