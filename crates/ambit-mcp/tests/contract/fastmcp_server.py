"""A server as FastMCP's users write it."""
from fastmcp import FastMCP

mcp = FastMCP("notes", instructions="Adds numbers.")


@mcp.tool(annotations={"readOnlyHint": True, "openWorldHint": False})
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


mcp.run(show_banner=False)
