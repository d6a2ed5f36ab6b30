// Form fields from a JSON Schema and JSON from typed values. Needs no page; card_rights.test.js
// has the test that random schemas do not break the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { answerOf, rootField, spanText } = await importSource(`
  export { answerOf } from './src/forms/schema/form_values.ts';
  export { rootField } from './src/forms/schema/schema.ts';
  export { spanText } from './src/ui/times.ts';
`);

const object = (properties, required = []) => ({ type: 'object', properties, required });

// The JSON that is sent when `typed` replaces initial values, or the errors as texts.
function sent(schema, typed) {
  const field = rootField(schema);
  const { value, faults } = answerOf(
    field,
    field.kind === 'group' ? { ...field.initial, ...typed } : (typed ?? field.initial),
  );
  return faults.length > 0
    ? faults.map(({ pointer, detail }) => `${pointer} ${detail}`)
    : JSON.stringify(value);
}

test('each kind of schema has its field, and the others are JSON', () => {
  const schemas = {
    text: { type: 'string' },
    long: { type: 'string', maxLength: 2000 },
    day: { type: 'string', format: 'date' },
    moment: { type: 'string', format: 'date-time' },
    mail: { type: 'string', format: 'email' },
    link: { type: 'string', format: 'uri' },
    other: { type: 'string', format: 'hostname' },
    size: { enum: ['S', 'M'] },
    neededSize: { type: 'string', enum: ['S', 'M'] },
    neededCountry: { enum: ['a', 'b', 'c', 'd', 'e', 'f'] },
    whole: { type: 'integer' },
    broken: { type: ['number', 'null'] },
    yes: { type: 'boolean' },
    perhaps: { type: ['boolean', 'null'] },
    some: { type: 'array', items: { enum: ['x', 'y'] } },
    lines: { type: 'array', items: { type: 'string' } },
    things: { type: 'array', items: { type: 'object' } },
    tuple: { type: 'array', prefixItems: [{ type: 'string' }] },
    place: object({ street: { type: 'string' } }),
    untyped: { properties: { a: { type: 'string' } } },
    free: { type: 'object' },
    anything: {},
    either: { type: 'string', oneOf: [{ minLength: 3 }, { const: '' }] },
    elsewhere: { $ref: '#/$defs/x' },
    two: { type: ['string', 'number'] },
    extra: { const: 5 },
    fixed: { const: 'v1' },
    agreed: { type: 'boolean', const: true },
  };
  const { fields } = rootField(
    object(schemas, ['neededSize', 'neededCountry', 'fixed', 'agreed', 'unsaid']),
  );
  const shown = Object.fromEntries(
    fields.map(({ name, kind, input, shows }) => [
      name,
      [kind, input ?? shows].filter(Boolean).join(' '),
    ]),
  );
  assert.deepEqual(shown, {
    text: 'text text',
    long: 'text textarea',
    day: 'text date',
    moment: 'text datetime-local',
    mail: 'text email',
    link: 'text url',
    other: 'text text',
    size: 'choice select',
    neededSize: 'choice radios',
    neededCountry: 'choice select',
    whole: 'number',
    broken: 'number',
    yes: 'checkbox',
    perhaps: 'choice select',
    some: 'choices',
    lines: 'lines',
    things: 'json',
    tuple: 'json',
    place: 'group',
    untyped: 'group',
    free: 'json',
    anything: 'json',
    either: 'json',
    elsewhere: 'json',
    two: 'json',
    extra: 'tick',
    fixed: 'fixed',
    agreed: 'tick',
    unsaid: 'json',
  });
});

test('fields have labels, hints and limits', () => {
  const amountSchema = {
    type: 'integer',
    title: 'Amount',
    description: 'In euros.',
    minimum: 1,
    maximum: 500,
    multipleOf: 5,
  };
  const groupSchema = object({ d: { type: 'number' } });
  const noteSchema = { type: 'string', minLength: 3 };
  const properties = { amount: amountSchema, note: noteSchema, 'a/b~c': groupSchema };
  const [amount, note, group] = rootField(object(properties, ['amount'])).fields;
  assert.deepEqual(
    [amount.label, amount.hint, amount.isRequired],
    ['Amount', 'In euros. · a whole number, 1 to 500, in steps of 5', true],
  );
  assert.deepEqual(
    [note.label, note.hint, note.isRequired],
    ['note', 'at least 3 characters', false],
  );
  assert.equal(group.fields[0].pointer, '/output/a~1b~0c/d');
});

test('a required field of an optional group is not marked as required', () => {
  const parts = {
    size: { enum: ['S', 'M'] },
    note: { type: ['string', 'null'] },
    yes: { type: 'boolean' },
    other: { type: 'string' },
  };
  const inner = object(parts, ['size', 'note', 'yes']);
  const outer = object({ inner }, ['inner']);
  const orNull = { ...inner, type: ['object', 'null'] };
  const innermost = (field) => (field.kind === 'group' ? field.fields.flatMap(innermost) : [field]);
  const fields = innermost(
    rootField(object({ must: inner, may: outer, orNull }, ['must', 'orNull'])),
  );
  const annotated = fields.filter(({ isMarked, hint }) => isMarked || hint);
  const marks = annotated.map(({ pointer, shows, isMarked, hint }) => [
    pointer,
    shows,
    isMarked,
    hint,
  ]);
  const hint = 'required if you fill in this part';
  assert.deepEqual(marks, [
    ['/output/must/size', 'radios', true, ''],
    ['/output/may/inner/size', 'select', false, hint],
    ['/output/orNull/size', 'select', false, hint],
  ]);
});

test('errors of numbers name the limits of the schema', () => {
  const schemas = [
    [{ type: 'integer', minimum: 1, maximum: 10 }, '12,5'],
    [{ type: 'integer', minimum: 1, maximum: 10 }, '1.5'],
    [{ type: 'number', minimum: 0 }, '2,5'],
    [{ type: 'number', maximum: 5, multipleOf: 0.5 }, 'x'],
    [{ type: 'number', minimum: 1, exclusiveMaximum: 5 }, 'x'],
    [{ type: 'number', exclusiveMinimum: 0 }, 'x'],
  ];
  const words = schemas.map(([schema, typed]) => sent(schema, typed)[0].replace('/output ', ''));
  assert.deepEqual(words, [
    'Enter a whole number from 1 to 10.',
    'Enter a whole number from 1 to 10.',
    'Enter a number of at least 0; use a point for decimals, not a comma.',
    'Enter a number of at most 5, in steps of 0.5.',
    'Enter a number of at least 1 and below 5.',
    'Enter a number above 0.',
  ]);
});

test('remaining times are rounded', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const spans = [7 * day - hour, 36 * hour, day - minute, hour - 1, 10 * minute - 1, 90_000, 1].map(
    spanText,
  );
  assert.deepEqual(spans, ['7 days', '36 h', '24 h', '60 min', '10 min', '90 s', '1 s']);
});

test('typed values become JSON of the right type', () => {
  const place = object(
    { street: { type: 'string' }, number: { type: 'integer' }, isHome: { type: 'boolean' } },
    ['street'],
  );
  const listOf = (items, more) => ({ type: 'array', items, ...more });
  const odd =
    '{"type":"object","properties":{' +
    '"__proto__":{"type":"string"},"constructor":{"type":"string"}}}';
  const orNull = (type) => ({ type: [type, 'null'] });
  const nullable = {
    text: orNull('string'),
    size: { enum: ['S', null] },
    yes: orNull('boolean'),
    number: orNull('integer'),
  };
  const texts = [
    sent(object({ a: { type: 'string' }, b: { type: 'integer' }, c: { enum: ['x'] } }), {}),
    sent(object({ a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'number' } }), {
      a: ' as typed ',
      b: ' 12 ',
      c: '-1.5e3',
    }),
    sent(object({ a: { enum: ['x', 2, { y: 3 }] } }), { a: '2' }),
    sent(object({ a: { type: 'boolean' }, b: { type: 'boolean' } }), { b: true }),
    sent(object({ a: listOf({ enum: ['x', 'y', 'z'] }), b: listOf({ type: 'string' }) }), {
      a: ['0', '2'],
      b: 'one\n\n two \n',
    }),
    sent(object({ a: listOf({ enum: ['x'] }), b: listOf({ type: 'string' }) }, ['a', 'b']), {}),
    sent(object({ place }), {}),
    sent(object({ place }), { place: { street: 'Quay', number: '', isHome: false } }),
    sent(object(nullable), {}),
    sent(object(nullable, Object.keys(nullable)), {}),
    sent(object({ a: true, b: listOf({}) }), { a: 'null', b: '[{"c": 1}]' }),
    sent(
      object({ v: { const: 'v1' }, w: { const: 'w1' }, agreed: { const: true } }, ['v', 'agreed']),
      { agreed: true },
    ),
    sent(object({ v: { const: 'v1' } }), { v: true }),
    sent({ type: 'string' }, 'text'),
    sent({ enum: [1, 2] }, '1'),
    sent(listOf({ type: 'string' }), 'a\nb'),
    sent({ type: 'object', additionalProperties: false }, {}),
    sent(
      JSON.parse(odd),
      Object.fromEntries([
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ]),
    ),
  ];
  assert.deepEqual(texts, [
    '{}',
    '{"a":" as typed ","b":12,"c":-1500}',
    '{"a":{"y":3}}',
    '{"a":false,"b":true}',
    '{"a":["x","z"],"b":["one"," two "]}',
    '{"a":[],"b":[]}',
    '{}',
    '{"place":{"street":"Quay","isHome":false}}',
    '{}',
    '{"text":null,"size":null,"yes":null,"number":null}',
    '{"a":null,"b":[{"c":1}]}',
    '{"v":"v1","agreed":true}',
    '{"v":"v1"}',
    '"text"',
    '2',
    '["a","b"]',
    '{}',
    '{"__proto__":"a","constructor":"b"}',
  ]);
  const moment = sent({ type: 'string', format: 'date-time' }, '2026-05-01T12:30');
  assert.equal(JSON.parse(moment), new Date(2026, 4, 1, 12, 30).toISOString());
  assert.equal(rootField(null), null);
});

test('invalid values are errors with a pointer', () => {
  const number = (more, typed) => sent(object({ a: { type: 'number', ...more } }), { a: typed })[0];
  const text = (more, typed) => sent(object({ a: { type: 'string', ...more } }), { a: typed })[0];
  const inner = object({ c: { type: 'integer' }, d: { type: 'string' } }, ['c']);
  const faults = [
    sent(object({ a: { type: 'string' }, b: inner, e: { const: true } }, ['a', 'b', 'e']), {}).join(
      '; ',
    ),
    sent(object({ b: inner }), { b: { c: '', d: 'x' } })[0],
    ...['1,5', '12 €', '0x10', 'Infinity', '1e999', '--1', '.'].map((typed) => number({}, typed)),
    number({ type: 'integer' }, '1.5'),
    number({}, '12345678901234567890'),
    number({ minimum: 2 }, '1'),
    number({ exclusiveMaximum: 2 }, '2'),
    number({ multipleOf: 0.1 }, '0.35'),
    text({ minLength: 3 }, 'ab'),
    text({ maxLength: 2 }, 'abc'),
    text({ pattern: '^[A-Z]+$' }, 'abc'),
    text({ pattern: '^[A-Z]+$', description: 'Capitals.' }, 'abc'),
    text({ format: 'date' }, null),
    sent({ type: 'array', items: {} }, '[1,')[0].slice(0, 26),
    sent(object({ a: { type: 'array', items: { enum: ['x', 'y'] }, minItems: 2 } }, ['a']), {
      a: ['0'],
    })[0],
  ];
  assert.deepEqual(faults, [
    '/output/a This needs an answer.; /output/b/c This needs an answer.; /output/e Tick this box.',
    '/output/b/c This needs an answer.',
    '/output/a Enter a number; use a point for decimals, not a comma.',
    ...Array(6).fill('/output/a Enter a number.'),
    '/output/a Enter a whole number.',
    '/output/a This number is too long to be sent exactly.',
    '/output/a This must be at least 2.',
    '/output/a This must be less than 2.',
    '/output/a This must be a multiple of 0.1.',
    '/output/a Enter at least 3 characters; this text has 2.',
    '/output/a Enter at most 2 characters; this text has 3.',
    '/output/a This does not have the expected form.',
    '/output/a This does not have the expected form: Capitals.',
    '/output/a This is incomplete.',
    '/output This is not JSON: ',
    '/output/a At least 2 are required.',
  ]);
  // Valid values that look invalid: an inexact binary fraction, characters of two UTF-16 units, and
  // a pattern that JavaScript can't read.
  const taken = [
    sent({ type: 'number', multipleOf: 0.1 }, '0.3'),
    sent({ type: 'string', maxLength: 2 }, '🕊🕊'),
    sent({ type: 'string', pattern: '(?i)^a' }, 'b'),
  ];
  assert.deepEqual(taken, ['0.3', '"🕊🕊"', '"b"']);
});

test('defaults are initial values and are sent unchanged', () => {
  const properties = {
    text: { type: 'string', default: 'two\nlines' },
    moment: { type: 'string', format: 'date-time', default: '2026-05-01T12:30:00.000Z' },
    number: { type: 'number', default: 0 },
    yes: { type: 'boolean', default: true },
    no: { type: ['boolean', 'null'], default: false },
    size: { enum: ['S', 'M'], default: 'M' },
    some: { type: 'array', items: { enum: [1, 2, 3] }, default: [3, 1] },
    lines: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] },
    inner: {
      ...object({ a: { type: 'string', default: 'own' }, b: { type: 'string', default: 'own' } }),
      default: { a: 'outer' },
    },
    json: { default: { a: [1, null] } },
    wrong: { type: 'integer', default: 'x' },
  };
  const field = rootField(object(properties));
  const whole = answerOf(field, field.initial);
  assert.deepEqual(whole, {
    value: {
      text: 'two\nlines',
      moment: '2026-05-01T12:30:00.000Z',
      number: 0,
      yes: true,
      no: false,
      size: 'M',
      some: [3, 1],
      lines: ['a', 'b'],
      inner: { a: 'outer', b: 'own' },
      json: { a: [1, null] },
    },
    faults: [],
  });
});
