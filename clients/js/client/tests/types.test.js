// The committed types of the HTTP API are those of its description.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { TYPES, typesText } from '../../generate_types.js';

test('the types of the HTTP API are up to date', async () => {
  const committed = await readFile(TYPES, 'utf8');
  assert.ok(committed === (await typesText()), 'run `npm run types` in clients/js');
});
