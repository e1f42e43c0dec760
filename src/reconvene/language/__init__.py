"""The two languages that a workflow is written in: expressions (JavaScript) and templates (Jinja).

Both are sealed: they see plain data, count what they do, and reach nothing else. Nothing here knows runs or workflows.
"""
