"""Look-ups of a template that lead nowhere.

One job: walk Jinja's own tree with kinds instead of values. Loops, `set`, macros, includes and imports are followed
through the templates beside the workflow; where that is not possible the value may be anything, and nothing is
reported. Templates that are plain look-ups are read without Jinja. It must not know workflows.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.language import templates
from reconvene.wire.names.kinds import JINJA, Kind, Miss, Missing, part


def misses(text: str, scope: Mapping[str, Kind], beside: Mapping[str, str]) -> list[Miss]:
    """Every look-up in `text`, and in the templates of `beside` that it takes in, of a name that is not there."""
    plain = templates.look_ups(text)
    if plain is None:
        from reconvene.wire.names.in_jinja import walked

        return walked(text, scope, beside)
    return [miss for line, path in plain if (miss := _missed(path, line, scope))]


def _missed(path: tuple[str, ...], line: int, scope: Mapping[str, Kind]) -> Miss | None:
    if path[0] not in scope:
        return Miss(path[0], path[0], tuple(scope), line=line)
    kind = scope[path[0]]
    for at, name in enumerate(path[1:], 2):
        found = part(kind, name, JINJA)
        if isinstance(found, Missing):
            return Miss(".".join(path[:at]), name, *found, line)
        kind = found
    return None
