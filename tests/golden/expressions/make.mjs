// Makes expressions.json anew: what Node.js answers to each expression below, in strict mode over deep-frozen data.
//     node tests/golden/expressions/make.mjs > tests/golden/expressions/expressions.json
// Only what every JavaScript engine agrees on belongs here: no messages of errors, no locales, no clock.

const scopes = {
  empty: {},
  seed: {
    context: {
      subagents_spawned: 6,
      phases: {iteration_counts: {discovery: 1, planning: 3, implementation: 1}},
      feature: {flags: ['backend', 'production'], name: 'checkout'},
      deliverables: [],
      skip_phases: ['phase_3', 'phase_4'],
      checkpoints: [
        {phase: 'discovery', decision: 'continue', timestamp: '2025-10-31T14:00:00Z'},
        {phase: 'planning', decision: 'repeat_phase', target: 'planning', feedback: 'Too thin', timestamp: '2025-10-31T15:00:00Z'},
      ],
      gap_checks: [{phase: 'planning', action: 'retry', count: 1}],
    },
    phase: {id: 'planning'},
  },
  bare: {context: {subagents_spawned: 0, deliverables: ['plan.md']}, phase: {id: 'testing'}},
  run: {
    context: {
      triage: {level: 'complex', pieces: ['a', 'b'], batches: [{id: 'b1', index: 0}, {id: 'b2', index: 1}]},
      questions: {list: [{id: 'q1', text: 'Who?', type: 'text'}, {id: 'q2', text: 'When?', type: 'choice', options: ['now', 'later']}]},
      approaches: {list: ['one', 'two', 'three']},
      outline: {sections: [{id: 's1'}, {id: 's2'}]},
      stop: null,
      review: {verdict: 'APPROVE', notes: ''},
      plan: {tasks: [{id: 't1', done: true}, {id: 't2', done: false}], job_complete: false, todos: []},
      interview: {complete: true, questions: []},
      gaps: {open: 0, conflicts: [], warning: '', critical: [{id: 'G-1'}]},
      accepted: null,
      unattended: null,
      synthesis: 'All agree.',
    },
    inputs: {company: null, documents: ['a.pdf'], gaps: 'gaps.md', description: 'Rebuild the thing'},
    settings: {interactive: true, auto: false},
    phase: {id: 'signals', title: 'Signals'},
    round: {n: 2, name: 'convergence', extra: false, last: true, agents: null},
    item: {id: 'b2', index: 1},
    up: {job: {round: {n: 1}, item: null}},
    groups: {specialists: ['economist', 'geopolitics', 'contrarian']},
    feedback: {major: true, count: 3, kinds: ['correction', 'comment']},
    routing: {affected: ['economist']},
    output: {text: '# Draft\n\nRevenue is $850M.\n', value: {score: 0.5}, files: ['draft.md']},
  },
  data: {
    list: [3, 1, 2],
    words: ['pear', 'Apple', 'fig', 'apple'],
    people: [{name: 'Ann', age: 31, tags: ['x']}, {name: 'Bob', age: 25, tags: []}, {name: 'Cy', age: 31, tags: ['x', 'y']}],
    nested: {a: {b: {c: [10, {d: 'deep'}]}}},
    text: 'The quick brown fox',
    unicode: 'naïve 😀 日本',
    empty: {list: [], object: {}, text: '', zero: 0, nothing: null, no: false},
    odd: JSON.parse('{"__proto__": {"polluted": true}, "constructor": "mine", "length": 7, "toString": "text", "a b": 1}'),
    big: 9007199254740993,
    tiny: 5e-324,
    half: 0.1,
    mixed: [1, '1', true, null, 'x', 0, '', [], {}],
  },
};

const cases = {
  seed: [
    'context.subagents_spawned > 5', 'context.subagents_spawned > 0', 'context.phases.iteration_counts[phase.id] > 1',
    "context.feature.flags.includes('backend')", "context.feature.flags.includes('production')", 'context.deliverables.length === 0',
    "context.skip_phases.includes('phase_3')", 'context.skip_phases.includes(phase.id)', 'context.checkpoints.length',
    'context.checkpoints[0].decision', 'context.checkpoints.at(-1).feedback', "context.checkpoints.some(c => c.decision === 'abort')",
    "context.checkpoints.filter(c => c.phase === phase.id).length", 'context.checkpoints.map(c => c.phase)',
    "context.checkpoints.find(({decision}) => decision === 'repeat_phase')?.target", 'Object.keys(context.phases.iteration_counts)',
    'Object.values(context.phases.iteration_counts).reduce((a, b) => a + b, 0)', 'context.phases.iteration_counts.missing > 1',
    'context.phases.iteration_counts.missing', 'context.gap_checks.every(g => g.count < 2)', 'context?.feature?.flags?.length',
    'context.nothing?.flags.includes("x")', 'context.nothing.flags', "context['feature']['name']", 'context.feature.name.toUpperCase()',
    '!context.deliverables.length', 'context.deliverables', 'context.feature',
    'context.deliverables.push(1)', 'context.feature.flags.sort()', 'context.feature.flags.toSorted?.() ?? []', '[...context.feature.flags].sort()',
    'context.feature.flags.reverse()', 'context.feature.flags.slice().reverse()', 'Object.assign(context.feature, {x: 1})',
    'Object.assign({}, context.feature, {name: "x"})', '({...context.feature, name: 1})', 'Object.isFrozen(context.feature.flags)',
    'Object.defineProperty(phase, "id", {value: 1})', 'new Date(context.checkpoints[0].timestamp).getTime()',
    'new Date(context.checkpoints[1].timestamp) - new Date(context.checkpoints[0].timestamp)', 'context.checkpoints[0].timestamp < context.checkpoints[1].timestamp',
  ],
  bare: [
    'context.subagents_spawned > 0', "context.feature.flags.includes('production')", 'context.deliverables.length === 0',
    'context.phases.iteration_counts[phase.id] > 1', 'context.feature?.flags?.includes("production")', 'context.feature?.flags.includes("x") ?? "none"',
    'unknown', 'unknown.thing', 'typeof unknown', 'phase.id', 'phase.idd', 'phase.id.missing.deep', 'phase["id"]', 'context.deliverables[0]',
    'context.deliverables[1]', 'context.deliverables[-1]', "context.deliverables['0']", 'context.deliverables.includes()',
  ],
  run: [
    'context.triage.pieces.length > 1', "context.triage.level !== 'straightforward'", 'context.questions.list', 'context.approaches.list',
    'context.outline.sections', 'context.triage.batches', 'context.stop', 'item.index > 0', "context.review.verdict !== 'APPROVE'", 'context.plan.tasks',
    'inputs.documents.length > 0', 'context.plan.job_complete', 'settings.interactive && up.job.round.n === 1 && !context.unattended', 'context.plan.todos',
    'settings.interactive', 'feedback.major', 'routing.affected', '!inputs.company', 'context.interview.complete', '!context.interview.complete',
    'context.interview.questions', '!round.extra', 'round.extra', 'round.agents', "round.name === 'isolated'", "round.name === 'convergence'",
    "['cluster', 'challenge'].includes(round.name)", 'round.agents || groups.specialists', 'round.last', '!inputs.gaps',
    "(context.gaps.open === 0 && context.review.verdict === 'APPROVE') || context.accepted", 'context.gaps.conflicts || context.gaps.warning',
    'context.gaps.conflicts', 'context.gaps.conflicts.length || context.gaps.warning', 'context.gaps.critical', 'context.synthesis',
    "groups.specialists.filter(a => a !== 'contrarian')", 'groups.specialists.includes(routing.affected[0])', 'groups.specialists.length * round.n',
    '[...groups.specialists, "moderator"]', 'routing.affected.concat(groups.specialists)', '[...new Set([...routing.affected, ...groups.specialists])]',
    'feedback.kinds.includes("correction") && feedback.count > 2', 'round.n >= 2 && feedback.major ? groups.specialists : []',
    'context.plan.tasks.filter(t => !t.done).map(t => t.id)', 'context.plan.tasks.every(t => t.done)', 'context.triage.batches.findIndex(b => b.id === item.id)',
    'output.text.length < 200', "!output.text.includes('# ')", "/^# \\w+/.test(output.text)", "/^## /m.test(output.text)", 'output.value.score >= 0.5',
    "output.files.some(f => f.endsWith('.md'))", 'output.text.match(/\\$(\\d+)M/)[1]', "output.text.split('\\n').length", 'output.text.trim().split(/\\s+/).length',
    'item', 'up.job.item', 'up.job.item?.id', 'up.missing?.round.n', 'up.missing.round.n', '`${phase.title} (${round.n})`', 'round.n + 1', 'round.n % 2 === 0',
    'context.questions.list.map(({id, options = []}) => [id, options.length])', 'Object.fromEntries(context.questions.list.map(q => [q.id, q.text]))',
    'context.accepted ?? false', 'context.stop || context.accepted || "no"', 'context.review.notes || "none"', 'context.review.notes ?? "none"',
  ],
  empty: [
    // values and truth
    'true ', 'null', 'undefined', 'NaN', 'Infinity', '-Infinity', '0', '-0', '[]', '{}', '({})', '{a: 1}', '{a: 1, b: [2, {c: 3}]}', "''", "'0'", "' '", '"a\\"b"',
    '!!0', '!!-0', '!!NaN', "!!''", "!!'0'", "!!'false'", '!![]', '!!{}', '!!null', '!!undefined', '!!(x => x)', '![]', '+[]', '+{}', '+[5]', '+[1,2]', "+''", "+' 12 '",
    "+'12px'", '+true', '+null', '+undefined', "+'0x1f'", "+'1e3'", "-'5'", "~'7'", "~~'7.9'", '- -1', 'void 0', 'typeof null', 'typeof []', 'typeof (() => 1)', 'typeof 1', "typeof ''", 'typeof undefined',
    // equality and order
    '1 == "1"', '1 === "1"', '0 == ""', '0 == "0"', '"" == "0"', 'null == undefined', 'null === undefined', 'null == 0', 'null >= 0', 'null > 0', 'undefined == 0', 'NaN == NaN', 'NaN != NaN',
    '[] == ""', '[] == 0', '[0] == false', '[1] == 1', '[1,2] == "1,2"', '[] == []', '[] == ![]', '({}) == "[object Object]"', 'true == 1', 'true == "1"', 'true == "true"', 'false == "0"', 'false == null', '"b" > "a"',
    '"B" > "a"', '"10" < "9"', '10 < 9', '"10" < 9', '"a" < 1', 'undefined < 1', 'null < 1', '[2] > 1', '1 < 2 < 3', '3 > 2 > 1', 'Object.is(NaN, NaN)', 'Object.is(0, -0)', '0 === -0',
    // operators
    '1 + 2', '1 + "2"', '"3" - 1', '"3" * "4"', '1 + null', '1 + undefined', '1 + true', '[] + []', '[] + {}', '[1] + [2]', '({}) + ""', '1 + [2]', 'null + "x"', '1 / 0', '-1 / 0', '0 / 0', '5 % 3', '-5 % 3', '5.5 % 2',
    '2 ** 10', '2 ** -1', '(-2) ** 3', '2 ** 3 ** 2', '7 / 2 | 0', '-7 >> 1', '-7 >>> 28', '1 << 31', '5 & 3', '5 | 3', '5 ^ 3', '~5', '1 && 2', '0 && 2', '0 || "x"', '"" || 0 || null', '0 ?? 1', 'null ?? 1', 'undefined ?? null ?? 2',
    '(0 || null) ?? "d"', '1, 2, 3', 'true ? 1 : 2', 'false ? 1 : true ? 2 : 3', '0.1 + 0.2', '0.1 + 0.2 === 0.3', '1e21', '1e21 + 1', '123456789012345680000', '1e-7', '0.000001', '9007199254740992 + 1', '9007199254740993', '1_000_000', '0b101', '0o17', '0xff', '.5', '5.', '"a" in {a: 1}', '1 in [1, 2]', '2 in [1, 2]',
    '[] instanceof Array', '({}) instanceof Array', '/a/ instanceof RegExp', 'new Date(0) instanceof Date', '[] instanceof Object',
    // chaining
    'null?.a', 'undefined?.a.b.c', 'null?.[0]', '({a: null}).a?.b', '({a: {}}).a?.b?.c', '({a: {}}).a.b?.()', '({a: {}}).a.b()', '({f: () => 5}).f?.()', 'true?.5:1', '(null?.a).b', 'null ?? undefined?.x ?? "z"',
    // numbers
    'Number("12")', 'Number("")', 'Number(" ")', 'Number("abc")', 'Number(null)', 'Number([])', 'Number([7])', 'Number(true)', 'Number(undefined)', 'Number("1,000")', 'Number("Infinity")', 'parseInt("42px")', 'parseInt("px")', 'parseInt("0x1f")', 'parseInt("101", 2)', 'parseInt("z", 36)', 'parseFloat("3.14abc")', 'parseFloat(".5")', 'parseFloat("-")',
    'isNaN("abc")', 'isNaN("")', 'Number.isNaN("abc")', 'isFinite("5")', 'Number.isFinite("5")', 'Number.isInteger(5.0)', 'Number.isInteger(5.1)', 'Number.isSafeInteger(2 ** 53)', 'Number.MAX_SAFE_INTEGER', 'Number.EPSILON', 'Number.MAX_VALUE', 'Number.MIN_VALUE', '(255).toString(16)', '(0.5).toString(2)', '(1234.5678).toFixed(2)', '(0.000001234).toFixed(7)', '(1.005).toFixed(2)', '(25).toFixed(1)', '(-1.5).toFixed(0)', '(123.456).toPrecision(4)', '(0.00001).toPrecision(1)', '(12345).toExponential(2)', 'String(1e21)', 'String(1e-7)', 'String(-0)', 'String(0.1 + 0.2)', 'String(100)', 'String(1/3)', '`${5e-324}`', '(1e21).toFixed(2)', '(12).toString(1)', '(1.5).toFixed(101)',
    // Math
    'Math.max()', 'Math.min()', 'Math.max(1, "3", 2)', 'Math.max(1, NaN)', 'Math.max(...[1, 5, 3])', 'Math.min(...[])', 'Math.round(2.5)', 'Math.round(-2.5)', 'Math.round(0.49999999999999994)', 'Math.floor(-1.5)', 'Math.ceil(-1.5)', 'Math.trunc(-1.9)', 'Math.sign(-3)', 'Math.abs("-4")', 'Math.sqrt(2)', 'Math.sqrt(-1)', 'Math.hypot(3, 4)', 'Math.log2(8)', 'Math.log10(1000)', 'Math.pow(2, 0.5)', 'Math.PI', 'Math.fround(5.5)', 'Math.clz32(1)', 'Math.abs(null)', 'Math.abs()',
    // text
    '"abc"[1]', '"abc"[5]', '"abc".at(-1)', '"abc".length', '"abc".charCodeAt(0)', '"abc".charAt(9)', '"😀".length', '[..."😀a"].length', '"😀".codePointAt(0)', '"😀"[0]', '"a-b-c".split("-")', '"abc".split("")', '"abc".split()', '"".split(",")', '"".split("")', '"a1b2".split(/\\d/)', '"a1b2".split(/(\\d)/)', '"a,b,c".split(",", 2)', '"abc".slice(-2)', '"abc".slice(2, 1)', '"abc".substring(2, 0)', '"abc".substr(-2, 1)', '"abc".indexOf("c")', '"abc".indexOf("")', '"abcabc".lastIndexOf("c")', '"abc".includes("bc")', '"abc".includes("")', '"abc".includes(/b/)', '"abc".startsWith("b", 1)', '"abc".endsWith("c")', '"  x\\t\\n".trim()', '" x ".trimStart()', '" x ".trimEnd()', '"5".padStart(3, "0")', '"5".padEnd(3)', '"ab".repeat(3)', '"ab".repeat(0)', '"ab".repeat(-1)', '"Straße".toUpperCase()', '"İ".toLowerCase().length', '"É".normalize("NFD").length', '"a.b.c".replace(".", "-")', '"a.b.c".replaceAll(".", "-")', '"abc".replace(/b/, "[$&]")', '"abc".replace(/(a)(b)/, "$2$1")', '"aXbX".replace(/x/gi, m => m + "!")', '"abc".replaceAll(/b/, "x")', '"abc".replace("b", () => "$&")', '"a".concat(1, null, [2])', '"b".localeCompare("b")', '"a" < "b"', '"abc" + 1 + 2', '1 + 2 + "abc"', 'String(null)', 'String(undefined)', 'String([1, [2, 3], null])', 'String({})', 'String(Object.create(null))', '`a${1 + 1}b${`c${3}`}`', '`line\n`', '"a\\0b"', '"\\ud83d\\ude00"', '"\\ud83d"', 'String.fromCharCode(72, 105)', 'String.fromCodePoint(128512)', 'String.fromCodePoint(-1)', 'String.raw`a\\n${1}`', '"abc".search(/c/)', '"abc".concat().at(0)', 'encodeURIComponent("a b/é")', 'decodeURIComponent("%E9")', 'decodeURIComponent("%C3%A9")', '"x".anchor?.call === undefined',
    // regular expressions
    '/a/.test("cat")', '/^a/.test("cat")', '/A/i.test("cat")', '/a.c/s.test("a\\nc")', '"2025-10-31".match(/(\\d+)-(\\d+)/).slice(1)', '"2025-10-31".match(/(?<y>\\d+)-(?<m>\\d+)/).groups.m', '"abc".match(/x/)', '"a1b22".match(/\\d+/g)', '[..."a1b22".matchAll(/\\d+/g)].map(m => [m.index, m[0]])', '"aaa".replace(/a(?=a)/g, "b")', '"price 5€".match(/(?<=price )\\d/)[0]', '/\\p{L}+/u.exec("日本x1")[0]', '/[^/\\]]/.test("]")', '/(a)|(b)/.exec("b").slice()', 'new RegExp("[").test("a")', 'new RegExp("a+", "g").flags', '/a/g.lastIndex', '/(?:)/.source', '/a\\/b/.test("a/b")', 'RegExp("^\\\\d+$").test("123")', '/(\\w)\\1/.test("hello")', '/^(?:a|ab)(?:c|bcd)(?:d*)$/.exec("abcd")[0]', '4 / 2 / 1', '(4) / 2', '[4][0] / 2 / 1',
    // lists
    '[1, 2, 3].includes(2)', '[NaN].includes(NaN)', '[NaN].indexOf(NaN)', '[1, 2, 3].includes("2")', '[1, 2, 3].some(x => x > 2)', '[].some(x => true)', '[].every(x => false)', '[1, 2].every(Boolean)', '[0, 1, "", "a", null].filter(Boolean)', '[1, 2, 3].map(x => x * 2)', '["1", "2", "3"].map(parseInt)', '["1", "2"].map(Number)', '[1, 2, 3].reduce((a, b) => a + b)', '[].reduce((a, b) => a + b)', '[].reduce((a, b) => a + b, 0)', '[1, 2, 3].reduceRight((a, b) => a + "-" + b)', '[1, 2, 3].find(x => x > 1)', '[1, 2, 3].find(x => x > 5)', '[1, 2, 3].findIndex(x => x > 5)', '[1, 2, 3].findLast(x => x < 3)', '[[1, [2]], [3]].flat()', '[[1, [2, [3]]]].flat(Infinity)', '[1, 2].flatMap(x => [x, x * 10])', '[1, 2].flatMap(x => x)', '[1, 2, 3].at(-1)', '[1, 2, 3].at(5)', '[1, 2, 3].slice(-2)', '[1, 2, 3].slice(1, -1)', '[1, , 3]', '[1, , 3].length', '[, ].length', '[1, , 3].map(x => x === undefined)', '[3, 1, 2].sort()', '[10, 9, 1].sort()', '[10, 9, 1].sort((a, b) => a - b)', '["b", undefined, "a"].sort()', '[3, 1, 2].sort((a, b) => b - a)', '[1, 2, 3].join()', '[1, null, undefined, [2]].join("-")', '[1, 2].concat([3], 4, [[5]])', '[1, 2, 3].reverse()', 'Array.from("abc")', 'Array.from({length: 3}, (_, i) => i * i)', 'Array.from(new Set([1, 1, 2]))', 'Array.of(7)', 'Array(3).length', 'Array(3).fill(0)', 'Array.isArray([])', 'Array.isArray({length: 0})', 'new Array(-1)', '[...[1, 2], ...[3]]', '[..."ab"]', '[...{}]', '[...null]', 'Math.max.apply(null, [1, 2])', '[1, 2, 3].indexOf(3)', '[1, 2, 1].lastIndexOf(1)', '[1, 2, 3, 4].splice(1, 2)', '[1, 2].entries().next().value', '[...[1, 2].entries()]', '[...["a", "b"].keys()]', '[5, 1, 10].toString()', '[[2, "b"], [1, "a"]].sort()', '[1, 2, 3].fill(0, 1)', '[1, 2, 3, 4, 5].copyWithin(0, 3)', '[1, 2].push(3)', '[1, 2].unshift(0)', '[1].pop()', '[].shift()',
    // sort is stable
    '[{k: 1, v: "a"}, {k: 0, v: "b"}, {k: 1, v: "c"}, {k: 0, v: "d"}].sort((x, y) => x.k - y.k).map(x => x.v).join("")', 'Array.from({length: 50}, (_, i) => ({k: i % 3, i})).sort((a, b) => a.k - b.k).map(x => x.i)',
    // objects
    'Object.keys({b: 1, a: 2, 1: 3, 0: 4})', 'Object.values({a: 1, b: 2})', 'Object.entries({a: 1, b: [2]})', 'Object.entries("ab")', 'Object.keys(null)', 'Object.keys([4, 5])', 'Object.fromEntries([["a", 1], ["b", 2]])', '({...{a: 1}, ...null, b: 2})', '({a: 1, a: 2})', '({["x" + 1]: 1})', '({a: undefined, b: null})', '[undefined]', '({"a-b": 1})["a-b"]', '({a: 1}).hasOwnProperty("a")', 'Object.hasOwn({a: 1}, "b")', '"toString" in {}', '({}).toString()', '({}).constructor === Object', '({valueOf: () => 4}) + 1', '({toString: () => "t"}) + "!"', '(({a, ...rest}) => rest)({a: 1, b: 2, c: 3})', '(({a: {b = 5} = {}}) => b)({})', '(([a, , b = 9]) => [a, b])([1, 2])', '((a, b = a + 1, ...c) => [a, b, c])(1)', '((a, b = a + 1, ...c) => [a, b, c])(1, 2, 3, 4)', '(() => ({x: 1}))()', '(() => {})()', '(x => x)(5)', '(function () { return this })()', '(function f(n) { return n < 2 ? 1 : n * f(n - 1) })(10)', '(() => { let s = 0; for (const x of [1, 2, 3]) s += x; return s })()', '(() => { const {a, b: [c]} = {a: 1, b: [2]}; return a + c })()', '(() => { let i = 0; while (i < 5) { i++; if (i === 3) break } return i })()', '(() => { switch (2) { case 1: return "a"; case 2: return "b"; default: return "c" } })()', '(() => { if (true) { return /}/.test("}") } return 1 })()', '[...(function* () { yield 1; yield* [2, 3] })()]', '({get x() { return 7 }}).x', '({f(a) { return a + 1 }}).f(1)', 'Object.freeze([1]).concat(2)', 'new Map([["a", 1]]).get("a")', '[...new Map([["a", 1]])]', 'new Set([1, 2, 2]).size', '[...new Set("hello")].join("")', 'new Set([1]).has("1")', 'Object.getPrototypeOf([]) === Array.prototype',
    "[1, 2, 2].reduce((seen, x) => ({...seen, [x]: (seen[x] ?? 0) + 1}), {})", "['constructor', 'toString', 'x'].reduce((o, k) => { o[k] = k.length; return o }, {})",
    // JSON
    'JSON.stringify({a: [1, null, undefined, () => 1], b: undefined})', 'JSON.stringify([NaN, Infinity, -0])', 'JSON.stringify("a\\u2028\\"")', 'JSON.stringify({b: 1, a: 2}, null, 2)', 'JSON.stringify({a: 1, b: 2}, ["b"])', 'JSON.stringify([1, 2], (k, v) => typeof v === "number" ? v + 1 : v)', 'JSON.stringify(undefined)', 'JSON.stringify(new Date(0))', 'JSON.stringify("\\ud800")', 'JSON.parse("[1, {\\"a\\": null}]")', 'JSON.parse("{")', 'JSON.parse("")', 'JSON.parse("01")', 'JSON.parse("[1,2]", (k, v) => Array.isArray(v) ? v.length : v)', 'JSON.parse("1e400")', 'JSON.parse("{\\"__proto__\\": 1}")',
    // dates are instants
    'new Date(0).toISOString()', 'new Date("2025-10-31T14:00:00Z").getTime()', 'new Date("2025-10-31T14:00:00+02:00").toISOString()', 'new Date("2025-10-31").getUTCDay()', 'Date.UTC(2025, 0, 31)', 'new Date(Date.UTC(2024, 1, 29)).toISOString().slice(0, 10)', 'new Date(8.64e15 + 1).getTime()', 'new Date(NaN).toISOString()', 'Date.parse("2025-01-01T00:00:00Z")', '(new Date("2025-03-01T00:00:00Z") - new Date("2025-02-01T00:00:00Z")) / 864e5', 'new Date(0) < new Date(1)', 'new Date(86400000).toJSON()',
    // errors
    'null.a', 'undefined.a', 'null[0]', 'undefined()', '(1)()', '({}).f()', 'missing', 'missing.a', 'missing()', 'new (() => 1)', 'null instanceof 1', '"a" in "b"', 'new Array(1.5)', '"a".repeat(Infinity)', '[].at.call(null)', 'Object.defineProperty(1, "a", {})', '(() => { throw new RangeError("x") })()', '(() => { throw new Error("x") })()', '(() => { x; let x = 1 })()', '(() => { const c = 1; c = 2 })()', 'Object.freeze({a: 1}).a.b.c', 'Object.setPrototypeOf(Object.freeze({}), [])', 'new RegExp("(")', 'decodeURI("%")', '(0).toFixed(-1)', 'Reflect_.x',
    // comments and layout
    '1 // one', '/* a */ 1 /* ) */', '1 +\n\n2', '// first\n3', '\t4\r\n', '(1)', '((((1))))',
  ],
  data: [
    'list', 'list.length', '[...list].sort()', 'list.sort()', 'list.map(x => x * x)', 'list.reduce((a, b) => Math.max(a, b))', 'Math.max(...list)', 'list.includes(2)', 'list.indexOf(2)', 'list.concat(4)', 'list.toString()', 'list[list.length - 1]', 'list.filter((x, i, all) => all.indexOf(x) === i)', 'list.push(4)', 'list.length - 1', 'list + ""', '"length" in list',
    '[...words].sort()', 'words.map(w => w.length)', 'words.find(w => w.startsWith("f"))', 'words.map(w => w.toLowerCase()).filter((w, i, a) => a.indexOf(w) !== i)', 'words.join(", ")', '[...words].sort((a, b) => a.length - b.length)', 'words.some(w => /^[A-Z]/.test(w))', '[...words].sort((a, b) => a < b ? -1 : a > b ? 1 : 0)', 'words.entries().next().value', 'words.indexOf("fig") > -1', 'words.at(-1) === "apple"',
    'people.map(p => p.name)', 'people.filter(({age}) => age > 30).map(({name}) => name)', 'people.reduce((sum, {age}) => sum + age, 0) / people.length', '[...people].sort((a, b) => a.age - b.age).map(p => p.name)', 'people.flatMap(p => p.tags)', 'people.every(p => p.tags.length)', 'people.some(p => p.tags.includes("y"))', 'people.find(p => p.name === "Zed")?.age ?? "unknown"', 'people.find(p => p.name === "Zed").age', 'Object.fromEntries(people.map(p => [p.name, p.age]))', 'people.map(({name, ...rest}) => rest)', 'people.map(p => ({...p, age: p.age + 1}))', 'people.map(p => p.tags.push("z"))', 'people.reduce((by, p) => ({...by, [p.age]: [...(by[p.age] ?? []), p.name]}), {})', 'new Set(people.map(p => p.age)).size', 'people.map((people, i) => people.name + i)', 'people.findLastIndex(p => p.age === 31)',
    'nested.a.b.c[1].d', 'nested?.a?.["b"]?.c?.[0]', 'nested.x?.y.z', 'nested.a.x.y', 'nested.a.b.c.length', 'JSON.stringify(nested)', 'Object.entries(nested.a)', '(({a: {b: {c: [first, {d}]}}}) => [first, d])(nested)',
    'text.split(" ").map(w => w[0]).join("")', 'text.replace(/(\\w+) (\\w+)/, "$2 $1")', 'text.match(/[aeiou]/g).length', 'text.length', 'text.toUpperCase().includes("QUICK")', 'text.split(" ").reverse().join(" ")', '[...text].filter(c => c === "o").length', 'text.indexOf("q") < text.indexOf("x")', 'text.substring(4, 9)', 'text[0] + text.at(-1)', 'text.search(/brown/)', 'text.x', 'text.x.y',
    'unicode.length', '[...unicode].length', 'unicode.split("")[7]', 'unicode.normalize("NFC") === unicode', 'unicode.includes("😀")', 'unicode.codePointAt(6)', 'unicode.slice(-2)', '/\\p{Emoji_Presentation}/u.test(unicode)', 'encodeURIComponent(unicode)', 'unicode.toUpperCase()', 'unicode.at(6)',
    'empty.list.length', '!empty.list', '!empty.list.length', '!empty.object', '!Object.keys(empty.object).length', '!empty.text', 'empty.text || "default"', 'empty.text ?? "default"', 'empty.zero || 5', 'empty.zero ?? 5', 'empty.nothing ?? 5', 'empty.nothing?.x', 'empty.nothing.x', 'empty.no === false', 'empty.list[0]?.id', 'empty.list[0].id', 'empty.list.at(-1)', 'empty.list.reduce((a, b) => a + b)', 'Math.max(...empty.list)', 'empty.list == false', 'empty.list.join()', 'empty.missing === undefined', 'empty.nothing === undefined', 'Object.values(empty).filter(Boolean).length', 'Object.values(empty).map(v => !!v)', '!empty.zero && !empty.nothing',
    'Object.keys(odd)', 'odd.polluted', '({}).polluted', 'odd.constructor', 'odd.length', "odd['a b']", "Object.hasOwn(odd, '__proto__')", 'odd.toString', '`${odd}`', '"x" + odd', 'JSON.stringify(odd)', '({...odd}).constructor', 'Object.entries(odd).length', 'Array.from(odd).length',
    'big', 'big === 9007199254740992', 'big + 1', 'String(big)', 'tiny', 'tiny / 2', 'half * 3', 'half + 0.2', '(half * 3).toFixed(20)', 'half.toFixed(3)', 'big.toString(36)', 'Number.isSafeInteger(big)',
    'mixed.map(x => typeof x)', 'mixed.filter(x => x)', 'mixed.map(Boolean)', 'mixed.map(Number)', 'mixed.map(String)', 'mixed.indexOf("1")', 'mixed.filter(x => x == 1)', 'mixed.filter(x => x === 1)', 'mixed.includes(null)', 'mixed.includes(undefined)', 'mixed.map(x => x ?? "none")', 'mixed.map(x => x || "none")', 'mixed.join("|")', 'mixed.map(x => +x)', 'mixed.map(x => x == 0)', 'mixed.map(x => x == null)', 'mixed.map(x => `${x}`)', 'mixed.flat().length', 'mixed.map(x => JSON.stringify(x))', 'mixed.findIndex(x => Array.isArray(x))',
  ],
};

function settle(value) {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const key of Object.keys(value)) settle(value[key]);
  }
  return value;
}

// Plain JSON, but for what JSON cannot say: {"$": "undefined" | "NaN" | "Infinity" | "-Infinity" | "-0"}.
function encode(value) {
  if (value === undefined) return {$: 'undefined'};
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) return {$: Object.is(value, -0) ? '-0' : String(value)};
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return Array.from(value, encode);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, encode(each)]));
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error('no such results here');
  return value;
}

function answer(source, scope) {
  const names = Object.keys(scope);
  try {
    const value = new Function(...names, `"use strict"; return (\n${source}\n);`)(...names.map(name => settle(structuredClone(scope[name]))));
    return {value: encode(value), truth: !!value};
  } catch (error) {
    return {error: error.name};
  }
}

const golden = {scopes, cases: []};
for (const [scope, sources] of Object.entries(cases))
  for (const source of new Set(sources)) golden.cases.push({scope, source, ...answer(source, scopes[scope])});
const lines = golden.cases.map(each => '    ' + JSON.stringify(each));
console.log(`{\n  "scopes": ${JSON.stringify(golden.scopes)},\n  "cases": [\n${lines.join(',\n')}\n  ]\n}`);
