"""The official SDK against `ambit serve`, in both eras."""
import asyncio
import sys

from mcp import Client, MCPError


async def main(url: str, mode: str) -> None:
    async with Client(url, mode=mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"files__read_file", "fixture__test_simple_text"} <= names, names
        said = await client.call_tool("fixture__test_simple_text", {})
        assert not said.is_error and said.content[0].text.startswith("This is a simple text"), said
        refused = await client.call_tool("files__write_file", {"path": "b.txt", "content": ""})
        assert refused.is_error and refused.content[0].text.startswith("approval_pending"), refused

        uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert "test://static-text" in uris, uris
        read = await client.read_resource("test://static-text")
        assert read.contents[0].text.startswith("This is the content"), read
        names = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert "fixture__test_prompt_with_arguments" in names, names
        prompt = await client.get_prompt("fixture__test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
        assert "arg1='one', arg2='two'" in prompt.messages[0].content.text, prompt
        try:
            await client.call_tool("nope", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool is an error")
    print(mode)


for mode in ["legacy", "auto", "2026-07-28"]:
    asyncio.run(main(sys.argv[1], mode))
