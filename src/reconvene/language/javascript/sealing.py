"""The JavaScript that closes an engine: what an expression finds there, and what it does not.

One job: this text. It takes away clock, chance and code from strings, freezes all that is left, and answers with the
one function through which the engine is used: `run(function, text, mode)`.
"""

from __future__ import annotations

import json

GLOBALS = frozenset(
    "Object Array String Number Boolean Map Set RegExp Date Math JSON Error TypeError RangeError SyntaxError"
    " ReferenceError parseInt parseFloat isNaN isFinite undefined NaN Infinity encodeURIComponent decodeURIComponent"
    " encodeURI decodeURI".split()
)

_SOURCE = r"""
(() => {
'use strict';
const world = globalThis;
const {freeze, isFrozen, keys, getPrototypeOf, defineProperty, getOwnPropertyDescriptor} = Object;
const {ownKeys, apply} = Reflect;
const {isArray} = Array;
const {parse, stringify} = JSON;
const plain = Object.prototype;
const wellFormed = String.prototype.toWellFormed;
const iso = Date.prototype.toISOString;
const source = Function.prototype.toString;
const Fault = Error, Moment = Date, Pattern = RegExp, Text = String, Seen = Set;
const Absent = TypeError, TooLong = RangeError;

// Hidden prototypes: reachable from an expression, but from no global.
const hidden = [
  [].values(), ''.matchAll(/a/g), ''[Symbol.iterator](), new Map().entries(), new Set().values(),
  [].values().map(x => x), Iterator.from({next() {}}), (function () { return arguments; })(),
  function* () {}, (function* () {})(), async function () {}, async function* () {}, (async function* () {})(),
  Iterator, Promise, Symbol, BigInt,
];

// No code from text.
const noCode = function Function() { throw new Absent('code cannot be made from text here'); };
for (const make of [function () {}, function* () {}, async function () {}, async function* () {}])
  defineProperty(getPrototypeOf(make), 'constructor', {value: noCode});

// No chance, no clock, no time zone: a date is an instant, read in UTC.
delete Math.random;
const instant = /^[+-]?\d{4,6}(-\d\d(-\d\d)?)?$|^[+-]?\d{4,6}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/i;
const when = function Date(value) {
  if (!new.target || arguments.length !== 1)
    throw new Absent('there is no clock here; write new Date(one ISO text or a number) or Date.UTC(…)');
  if (typeof value === 'string' && !instant.test(value))
    throw new Absent(`'${value}' depends on a time zone; write it as 2025-01-31T12:00:00Z`);
  return new Moment(value);
};
when.prototype = Moment.prototype;
when.UTC = Moment.UTC;
when.parse = text => +new when(`${text}`);
defineProperty(Moment.prototype, 'constructor', {value: when});
for (const name of ownKeys(Moment.prototype))
  if (/^(get|set)(?!UTC|Time$)|^to(Date|Time|Locale|GMT)/.test(Text(name))) delete Moment.prototype[name];
Moment.prototype.toString = iso;
world.Date = when;

// Loops inside the engine that no time limit interrupts, so their work is bounded before they start.
const LONGEST = 2000000;
const size = (value, name) => {
  if (value === null || typeof value !== 'object' || !('length' in value)) return;
  const {value: length} = getOwnPropertyDescriptor(value, 'length') ?? {};
  if (typeof length !== 'number') throw new Absent(`${name} needs a list`);
  if (length > LONGEST) throw new TooLong(`the list is too long to ${name}`);
};
const sizes = (value, name, depth) => {
  size(value, name);
  if (depth > 0 && isArray(value)) for (const each of value) if (isArray(each)) sizes(each, name, depth - 1);
};
const replace = (owner, name, guard) => {
  const original = owner[name];
  const own = {[name](...given) { return apply(original, guard(this, given), given); }}[name];
  defineProperty(own, 'length', {value: original.length});
  defineProperty(owner, name, {value: own});
};
const lists = Array.prototype;
for (const name of [
  'reverse', 'join', 'toString', 'toLocaleString', 'slice', 'splice', 'shift', 'unshift', 'copyWithin',
]) replace(lists, name, list => { size(list, name); return list; });
replace(lists, 'sort', list => {
  size(list, 'sort');
  // The engine would let this pass when the list happens to be in order already.
  if (isArray(list) && list.length > 1 && isFrozen(list))
    throw new Absent('the list is read-only; sort a copy: [...list].sort()');
  return list;
});
replace(lists, 'concat', (list, given) => {
  size(list, 'concat');
  for (const each of given) size(each, 'concat');
  return list;
});
replace(lists, 'flat', (list, given) => {
  given[0] = given[0] === undefined ? 1 : +given[0];
  sizes(list, 'flat', given[0]);
  return list;
});
replace(lists, 'flatMap', (list, given) => {
  size(list, 'flatMap');
  const [each] = given;
  if (typeof each === 'function') given[0] = function (...rest) {
    const made = apply(each, this, rest);
    size(made, 'flatMap');
    return made;
  };
  return list;
});
const text = value => {
  if (value === null || value instanceof Pattern) return value;
  return typeof value === 'object' || typeof value === 'function' ? Text(value) : value;
};
for (const name of ['includes', 'indexOf', 'lastIndexOf', 'split', 'replace', 'replaceAll'])
  replace(Text.prototype, name, (value, given) => {
    const whole = text(value);
    if (given.length) given[0] = text(given[0]);
    if (typeof whole === 'string' && typeof given[0] === 'string' && whole.length * given[0].length > 100000000)
      throw new TooLong(`the text is too long to ${name} with such a long text`);
    return whole;
  });

const kept = new Seen(GLOBALS);
for (const name of ownKeys(world)) if (typeof name === 'string' && !kept.has(name)) delete world[name];
delete Array.fromAsync;
for (const name of ['prepareStackTrace', 'stackTraceLimit', 'captureStackTrace']) delete Error[name];

// `counts.constructor = 1` on an expression's own object must go on working when Object.prototype is frozen.
for (const name of ownKeys(plain)) {
  const {value} = getOwnPropertyDescriptor(plain, name);
  if (value === undefined) continue;
  hidden.push(value);
  defineProperty(plain, name, {
    get() { return value; },
    set(given) { defineProperty(this, name, {value: given, writable: true, enumerable: true, configurable: true}); },
  });
}

const seen = new Seen();
const waiting = [world, run, noCode, ...hidden];
while (waiting.length) {
  const each = waiting.pop();
  if (each === null || typeof each !== 'object' && typeof each !== 'function' || seen.has(each)) continue;
  seen.add(each);
  waiting.push(getPrototypeOf(each));
  for (const name of ownKeys(each)) {
    const {value, get, set} = getOwnPropertyDescriptor(each, name);
    waiting.push(value, get, set);
    if (get) try { waiting.push(each[name]); } catch {}
  }
  freeze(each);
}

function settle(data) {
  const open = [data];
  while (open.length) {
    const each = open.pop();
    if (typeof each !== 'object' || each === null) continue;
    freeze(each);
    if (isArray(each)) for (let at = 0; at < each.length; at++) open.push(each[at]);
    else for (const name of keys(each)) open.push(each[name]);
  }
  return data;
}

const quote = value => stringify(apply(wellFormed, value, []));

// A long text put together with + stays in pieces inside the engine and cannot be handed out; join makes it one.
const flat = (...parts) => parts.join('');

function encode(value) {
  switch (typeof value) {
    case 'string': return quote(value);
    case 'number': case 'boolean': return `${value}`;
    case 'undefined': return 'null';
    case 'object': break;
    default: throw new Absent(`the result holds a ${typeof value}, which cannot be recorded`);
  }
  if (value === null) return 'null';
  const parts = [];
  if (isArray(value)) {
    for (let at = 0; at < value.length; at++) parts.push(encode(value[at]));
    return flat('[', parts.join(), ']');
  }
  const kind = getPrototypeOf(value);
  if (kind === Moment.prototype) return quote(apply(iso, value, []));
  if (kind !== plain && kind !== null) {
    const name = kind.constructor?.name ?? 'special object';
    throw new Absent(`the result holds a ${name}; give plain values, lists and objects ([...set] lists a set)`);
  }
  for (const name of keys(value))
    if (value[name] !== undefined) parts.push(flat(quote(name), ':', encode(value[name])));
  return flat('{', parts.join(), '}');
}

function describe(error) {
  if (error === null) return 'out of memory';
  return error instanceof Fault ? `${error.name}: ${error.message}` : `thrown: ${Text(error)}`;
}

function run(program, given, mode) {
  if (mode === 'text') return `${apply(source, program, []) === given}`;
  try {
    const value = apply(program, undefined, settle(parse(given)));
    return mode === 'truth' ? `${!!value}` : encode(value);
  } catch (error) {
    return flat('!', quote(describe(error)));
  }
}
return run;
})()
"""

SANDBOX = _SOURCE.replace("GLOBALS", json.dumps(sorted(GLOBALS)))
