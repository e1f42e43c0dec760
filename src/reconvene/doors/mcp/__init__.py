"""The MCP door: an MCP client reads runs, and lets its person decide.

Nothing here prints: what a client reads is what the protocol says. The library is imported by `server` and `over_http`.
"""
