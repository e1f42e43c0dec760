"""The tools that models use while they work: files, programs, the person's project, documents, data, MCP servers.

Whatever goes wrong in a tool is a failed result in words that a model can use. What a tool may reach is decided here,
not in what a model is told. Loaded when the first agent with tools works.
"""

from reconvene.adapters.tools.toolbox import Reach, Toolboxes

__all__ = ["Reach", "Toolboxes"]
