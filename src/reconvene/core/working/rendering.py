"""Files that a workflow keeps by template (`files:`), rendered from views of the log before anybody reads them.

The bytes are recorded by digest when they changed. A template that fails leaves the last good file and is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.core.definition.workflow import FileSpec
from reconvene.core.facts import events as e
from reconvene.core.facts.round import TaskAt
from reconvene.core.facts.rows import Failed
from reconvene.core.paths import safe_path
from reconvene.core.shown import scope
from reconvene.core.shown.summaries import summary_in
from reconvene.core.working.transaction import Transaction
from reconvene.errors import KitFailed, ReconveneError
from reconvene.language import templates

_GIVEN = {"inputs", "settings"}
_SAID = {"feedback", "kit"}


def render(tx: Transaction) -> None:
    """Every templated file of the workflow that is not per task."""
    _render(tx, "")


def render_said(tx: Transaction) -> None:
    """Of an open checkpoint: the files that tell what people said, at once."""
    specs = [spec for spec in tx.book.workflow.files if not spec.each and not spec.after and not spec.section]
    texts = [(spec, tx.book.workflow.templates.get(spec.template, "")) for spec in specs]
    told = [(spec, text, scope.Scope()) for spec, text in texts if tx.book.names_in(text) & _SAID]
    if told and tx.state.world.open is not None and not tx.state.ended:
        _emit(tx, told)


def render_after(tx: Transaction, phase: str) -> None:
    """`after`: those that are for the end of this phase."""
    _render(tx, phase)


def record(tx: Transaction, files: tuple[e.FileOut, ...]) -> None:
    """What was made of something that the log does not hold, such as the schemas of tools."""
    known = tx.state.world.files
    fresh = tuple(file for file in files if file.path not in known or known[file.path].digest != file.digest)
    if fresh and not tx.state.ended:
        tx.emit(e.FilesRendered(at=tx.now, files=fresh))


def _render(tx: Transaction, after: str) -> None:
    specs = [spec for spec in tx.book.workflow.files if not spec.each and spec.after == after]
    if specs:
        _emit(tx, [(spec, tx.book.workflow.templates.get(spec.template, ""), {}) for spec in specs])


def render_tasks(tx: Transaction, done: list[TaskAt], step: int) -> None:
    """`each: tasks`: one file per accepted task of the step that just closed."""
    specs = [spec for spec in tx.book.workflow.files if spec.each == "tasks"]
    if not specs:
        return
    work: list[tuple[FileSpec, str, scope.Scope]] = []
    for spec in specs:
        for task in done:
            output = tx.book.load(task.value or task.output) if task.output else ""
            field = spec.source.partition(".")[2]
            text = output.get(field, "") if isinstance(output, dict) and field else output
            if field == "summary" and isinstance(text, str) and not isinstance(output, dict):
                text = summary_in(text)
            work.append(
                (
                    spec,
                    "{{ text }}",
                    {
                        "text": text if isinstance(text, str) else str(text),
                        "task": {"agent": task.agent, "attempt": task.attempt, "step": step},
                        "output": output,
                    },
                )
            )
    _emit(tx, work)


def render_rejected(tx: Transaction, agent: str, step: int, attempt: int, output: e.Ref | None) -> None:
    """`each: rejected`: what a gate sent back, as it came, for people."""
    specs = [spec for spec in tx.book.workflow.files if spec.each == "rejected"]
    if specs and output is not None and not tx.state.ended:
        seen: scope.Scope = {
            "text": tx.book.text(output.digest),
            "task": {"agent": agent, "attempt": attempt, "step": step},
        }
        _emit(tx, [(spec, "{{ text }}", seen) for spec in specs])


def _emit(tx: Transaction, work: list[tuple[FileSpec, str, scope.Scope]]) -> None:
    base = _seen_by_all(tx, work)
    known = tx.state.world.files
    fresh: list[e.FileOut] = []
    for spec, text, extra in work:
        path = spec.path
        try:
            names = {**(base if base is not None else _seen(tx, {spec.path, text})), **extra}
            path = templates.render(spec.path, names).strip()
            if not path:  # this entry is not for this phase or task
                continue
            path = safe_path(path)
            theirs = known[path].person if path in known else path in tx.state.world.gone
            if theirs and _is_copy(tx, spec, text):
                continue  # nothing but the person can have changed it, or taken it away: it is theirs
            data = _text(tx, text, names)
            if spec.section:
                whole = known[path].digest if path in known else ""
                if not whole:  # nobody has written it yet
                    continue
                data = with_section(tx.book.text(whole), spec.section, data.decode()).encode()
        except ReconveneError as error:
            if Failed(path, str(error)) not in tx.state.record.errors:
                tx.emit(e.RenderFailed(at=tx.now, path=path, message=str(error)))
            continue
        digest = tx.book.keep(data)
        if path not in known or known[path].digest != digest:
            tx.blobs[digest] = data
            fresh.append(e.FileOut(path, digest, len(data)))
    if fresh:
        tx.emit(e.FilesRendered(at=tx.now, files=tuple(fresh)))


def _is_copy(tx: Transaction, spec: FileSpec, text: str) -> bool:
    """Of what the run was given: such a file never changes by itself."""
    return not spec.section and not spec.each and tx.book.names_in(text) <= _GIVEN


def with_section(text: str, heading: str, body: str) -> str:
    """`text` with `body` below that heading, up to the next one as high; at its end where there is none. Nothing to say
    and no such heading: as it was. What somebody wrote below the same heading further down is left out."""
    lines = text.splitlines()
    below = _below(lines, heading)
    if not below and not body.strip():
        return text
    if not below:
        return f"{text.rstrip()}\n\n{heading}\n\n{body.strip()}\n"
    start = min(below)
    after = [line for at, line in enumerate(lines) if at > start and at not in below]
    said = [heading, "", *body.strip().splitlines(), *([""] if after else [])]
    return "\n".join([*lines[:start], *said, *after]).rstrip() + "\n"


def without_section(text: str, heading: str) -> str:
    """`text` with empty lines in place of that heading and what stands below it: all other lines keep their number."""
    lines = text.splitlines()
    below = _below(lines, heading)
    return "\n".join("" if at in below else line for at, line in enumerate(lines)) if below else text


def _below(lines: Sequence[str], heading: str) -> set[int]:
    """The lines from that heading up to the next one as high, wherever it stands."""
    depth = len(heading) - len(heading.lstrip("#"))
    found: set[int] = set()
    inside = False
    for at, line in enumerate(lines):
        inside = line.strip() == heading or (inside and not 0 < _depth(line) <= depth)
        found |= {at} if inside else set()
    return found


def _depth(line: str) -> int:
    """Of a heading; 0 = it is none."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if 0 < marks <= 6 and line[marks : marks + 1] == " " else 0


def _text(tx: Transaction, text: str, names: scope.Scope) -> bytes:
    """Worked out anew only where something that it names has changed: files are rendered before every step and again
    before a checkpoint opens, and mostly nobody has said anything in between."""
    seen = {name: names.get(name) for name in sorted(tx.book.names_in(text))}
    loader = tx.book.workflow.templates
    return tx.book.made_of(text, seen, lambda: templates.render(text, names, loader=loader).encode())


def _seen_by_all(tx: Transaction, work: list[tuple[FileSpec, str, scope.Scope]]) -> scope.Scope | None:
    """None where a kit failed: then only the files that need it are left as they are."""
    try:
        return _seen(tx, {source for spec, text, _ in work for source in (spec.path, text)})
    except KitFailed:
        return None


def _seen(tx: Transaction, sources: set[str]) -> scope.Scope:
    """What these templates see. Only what they name is worked out; the rest is there by name, for words on mistakes."""
    named = {name for source in sources for name in tx.book.names_in(source)}
    seen = scope.for_template(tx.state, tx.book, scope.TEMPLATE_ROOTS & named)
    return {**dict.fromkeys(scope.TEMPLATE_ROOTS), **seen}
