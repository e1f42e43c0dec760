"""REST over the same read model as every door: /api/v1, and /health."""
