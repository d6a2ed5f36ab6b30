// What the first screen of a space says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importSource } from './bundle.js';

const { askedText, hereText, keysText, offersFor } = await importSource(
  `export * from './src/home/first_words.ts';`,
);

const agent = (name) => ({ name, type: 'agent' });
const person = (name, guest = false) => ({ name, type: 'human', guest });

test('each message to try says what comes of it', () => {
  const demo = offersFor([agent('Guide'), agent('Librarian'), agent('Observer')]);
  assert.deepEqual(
    demo.map(({ text }) => text),
    ['Hello! Who is here?', '@Librarian what day is it?', 'Time for a coffee?'],
  );
  assert.ok(demo.every(({ follows }) => follows !== ''));
  assert.deepEqual(offersFor([agent('Ana')]).at(-1), {
    text: '@Ana what should I ask you?',
    follows: 'Ana is named',
  });
  assert.deepEqual(offersFor([person('Sara')]), []);
});

test('the sentence follows the policy of the space', () => {
  const asked = (triggerPolicy, paused = false) => askedText({ triggerPolicy, paused }, 3);
  assert.match(asked('all'), /^Write something\. Every agent reads it/);
  assert.match(asked('mention'), /if you name it/);
  assert.match(asked('all', true), /paused/);
  const shown = 'Below your message you see what each decided, and why.';
  assert.equal(asked('of a newer server'), `Write something. ${shown}`);
  assert.equal(asked(undefined), `Write something. ${shown}`);
  assert.match(askedText({ triggerPolicy: 'all', paused: false }, 0), /^People talk here/);
});

test('the keys of models are named, scripts need none', () => {
  const provider = (name, hasKey, own = false) => ({ name, api: name, hasKey, own });
  const none = [provider('scripted', true), provider('anthropic', false)];
  assert.match(keysText(none), /^No model has a key yet: set ANTHROPIC_API_KEY/);
  const some = [...none, provider('openai', true), provider('local', false, true)];
  assert.equal(keysText(some), 'These models have a key: openai and local.');
});

test('who is here', () => {
  assert.equal(hereText([]), 'Nobody is here yet.');
  assert.equal(
    hereText([person('Sara'), person('Kim', true), agent('Ana')]),
    'Sara and Kim (guest) are here, with the agent Ana.',
  );
});
