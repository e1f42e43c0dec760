"""The API described: an OpenAPI 3.1 document made from the operations and their structs, and the same as a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import msgspec
from starlette.responses import HTMLResponse

from reconvene.doors.rest.bodies import Problem
from reconvene.doors.rest.operations import Operation

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)\}")
_REASONS = {
    400: "It cannot be read.", 401: "Nobody is known: send a token.", 403: "Not allowed: another role, or not yours.",
    404: "There is no such thing.", 409: "Not as it was: who decided, or what changed; or a request that is under way.",
    413: "Too large.", 415: "Another media type.",
    422: "Something does not fit; `field` names what of that which was sent.",
    428: "The version that was shown is missing: If-Match.", 503: "The store cannot serve just now.",
}  # fmt: skip
_HELP = {
    "run": "The run's whole id.", "path": "The file's path in the run's folder.", "id": "As it is listed.",
    "digest": "As it is listed.", "view": "As it is listed.", "workflow": "Its name.",
    "name": "As it is listed.",
}  # fmt: skip


def document(operations: Sequence[Operation], prefix: str) -> dict[str, Any]:
    return _document(tuple(operations), prefix)


@cache
def _document(operations: tuple[Operation, ...], prefix: str) -> dict[str, Any]:
    from importlib.metadata import version

    kinds = [kind for one in operations for kind in (one.gives, one.body, one.query) if kind is not None]
    known = [*dict.fromkeys(kinds), Problem]
    schemas, components = msgspec.json.schema_components(known, schema_hook=_other, ref_template=_REF)
    by_kind = dict(zip(known, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(prefix + one.path, {})[one.method.lower()] = _operation(one, by_kind, components)
    for one in operations:  # their fields stand at the operations
        if one.query is not None:
            components.pop(_name(by_kind[one.query]), None)
    tags = [{"name": name} for name in dict.fromkeys(one.tag for one in operations)]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Reconvene",
            "version": version("reconvene"),
            "description": "Runs of teams of agents, with a person at the checkpoints. See docs/rest.md.",
        },
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _other(kind: type) -> dict[str, Any]:
    if kind is object:
        return {"description": "Anything."}
    if issubclass(kind, Sequence):
        return {"type": "array"}
    raise NotImplementedError(kind)


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _operation(one: Operation, by_kind: Mapping[Any, dict[str, Any]], components: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": one.name,
        "tags": [one.tag],
        "summary": one.summary,
        "parameters": [*_in_path(one), *_in_query(one, by_kind, components), *_in_headers(one)],
        "responses": _responses(one, by_kind),
    }
    if one.body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_kind[one.body]}}}
    if one.upload:
        file = {"type": "string", "format": "binary"}
        form = {"type": "object", "required": ["file"], "properties": {"file": file}, "additionalProperties": False}
        described["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": form}}}
    return described


def _in_path(one: Operation) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1}
    return [
        {"name": name, "in": "path", "required": True, "description": _HELP[name], "schema": schema}
        for name in _PARAMETER.findall(one.path)
    ]


def _in_query(
    one: Operation, by_kind: Mapping[Any, dict[str, Any]], components: Mapping[str, Any]
) -> list[dict[str, Any]]:
    if one.query is None:
        return []
    schema = components[_name(by_kind[one.query])]
    return [
        {"name": name, "in": "query", "required": False, "schema": _without_null(found)}
        for name, found in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """An address cannot say null: what is left out is left out."""
    if "anyOf" in schema:
        others = [one for one in schema["anyOf"] if one.get("type") != "null"]
        return others[0] if len(others) == 1 else {"anyOf": others}
    found = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    if "enum" in found:
        found["enum"] = [value for value in found["enum"] if value is not None]
    return found


def _in_headers(one: Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    schema: dict[str, Any]
    if one.bound:
        what = "The version that was shown: the ETag of the checkpoint."
        schema = {"type": "string", "pattern": '^"[0-9a-f]{8,128}"$'}
        found.append({"name": "If-Match", "in": "header", "required": True, "description": what, "schema": schema})
    if one.once:
        what = "The same request with the same key has its effect once."
        schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[A-Za-z0-9_.-]+$"}
        found.append({"name": "Idempotency-Key", "in": "header", "required": False, "description": what,
                      "schema": schema})  # fmt: skip
    if one.name == "stream":
        schema = {"type": "string", "pattern": "^[0-9]{1,19}$"}
        found.append({"name": "Last-Event-ID", "in": "header", "required": False, "schema": schema})
    return found


def _responses(one: Operation, by_kind: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": one.summary}
    if one.gives is not None:
        good["content"] = {one.media: {"schema": by_kind[one.gives]}}
    elif one.status != 204:
        media = [one.media, *(["text/plain"] if one.media == "application/octet-stream" else [])]
        good["content"] = {kind: {"schema": {}} for kind in media}
    if one.tagged:
        good["headers"] = {"ETag": {"schema": {"type": "string"}, "description": "The version, for If-Match."}}
    refuses = {401, *one.refuses}
    refuses |= {422} if one.query or one.body or one.upload or one.name in ("file", "disallow", "diff") else set()
    refuses |= {400, 403, 409, 413, 415, 422} if one.body or one.upload else set()
    refuses |= {403, 409, 422} if one.method != "GET" else set()
    refuses |= {428} if one.bound else set()
    refused = {"application/problem+json": {"schema": by_kind[Problem]}}
    return {
        str(one.status): good,
        **{str(status): {"description": _REASONS[status], "content": refused} for status in sorted(refuses)},
    }


# --- as a page ---


def page(operations: Sequence[Operation], prefix: str) -> HTMLResponse:
    rows = []
    for tag in dict.fromkeys(one.tag for one in operations):
        rows.append(f"<h2>{escape(tag.capitalize())}</h2><dl>")
        rows += [_entry(one, prefix) for one in operations if one.tag == tag]
        rows.append("</dl>")
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>The API of Reconvene</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/static/style.css">'
        f'<main><h1>The API</h1><p>As a document for programs: <a href="{prefix}/openapi.json">openapi.json</a>. '
        "Send a token: <code>Authorization: Bearer TOKEN</code>. Errors are RFC 9457; each says what to do.</p>"
        f"{''.join(rows)}</main></html>"
    )
    return HTMLResponse(text)


def _entry(one: Operation, prefix: str) -> str:
    takes = [f"<code>{escape(header['name'])}</code>" for header in _in_headers(one)]
    takes += [f"query <code>{escape(name)}</code>" for name in (one.query.__struct_fields__ if one.query else ())]
    takes += [f"JSON <code>{escape(', '.join(one.body.__struct_fields__)) or '{}'}</code>"] if one.body else []
    takes += ["a form with <code>file</code>"] if one.upload else []
    more = f" Takes: {'; '.join(takes)}." if takes else ""
    where = f"<code>{one.method} {escape(prefix + one.path)}</code>"
    return f'<dt id="{one.name}">{where}</dt><dd>{escape(one.summary)}{more}</dd>'
