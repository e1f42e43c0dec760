"""Which names a workflow's expressions and templates may use, and where one of them is misspelt.

What a workflow writes is known when it is loaded, and much of what its values look like as well. `kinds` says what can
be known of a value, `schema_kinds` reads it off a JSON Schema, `known` puts it together with the engine's own names for
one workflow. `in_expressions` and `in_templates` find look-ups that lead nowhere; `check` reports them. Only files are
checked so: a workflow that is pinned with a run is never looked at again.
"""
