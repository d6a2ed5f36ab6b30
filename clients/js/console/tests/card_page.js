// Cards in a DOM without a browser: one card with a space that records what is sent. Importing this
// file makes the DOM.

import { SmartspaceError } from '@smartspace/client';
import { JSDOM } from 'jsdom';
import { importSource } from './bundle.js';
import { ORDER_SCHEMA } from './order_schema.js';

const { window } = new JSDOM('<main></main>', { pretendToBeVisual: true });
globalThis.window = window;
globalThis.document = window.document;
window.Element.prototype.scrollIntoView = () => {};

export const {
  ApprovalCard,
  Card,
  FieldView,
  answerOf,
  celOf,
  clearDrafts,
  editorOf,
  exactScope,
  fieldScopes,
  h,
  render,
  rootField,
  typedIn,
} = await importSource(`
    export { h, render } from 'preact';
    export { ApprovalCard } from './src/forms/approval/approval_card.tsx';
    export { editorOf } from './src/forms/approval/edit.ts';
    export { celOf, exactScope, fieldScopes } from './src/forms/approval/remember.ts';
    export { Card } from './src/forms/card/card.tsx';
    export { typedIn } from './src/forms/fields/controls.ts';
    export { clearDrafts } from './src/forms/form/drafts.ts';
    export { FieldView } from './src/forms/fields/fields.tsx';
    export { answerOf } from './src/forms/schema/form_values.ts';
    export { rootField } from './src/forms/schema/schema.ts';
  `);

const MEMBERS = [
  { id: 'ada', name: 'Ada', type: 'agent' },
  { id: 'sarah', name: 'Sarah', type: 'human' },
  { id: 'husam', name: 'Husam', type: 'human' },
];
export const PEOPLE = MEMBERS.slice(1);
const NOW = Date.parse('2026-05-01T12:00:00Z');

/** A schema with fields of every kind. */
export const ORDER = {
  ...ORDER_SCHEMA,
  required: [...ORDER_SCHEMA.required, 'version'],
  properties: { version: { const: 'v1', title: 'Version' }, ...ORDER_SCHEMA.properties },
};

/** Waits until all renders are done. */
export const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A tool part. */
export const tool = (more = {}) => ({
  type: 'tool',
  callId: 'c1',
  name: 'ask',
  input: {},
  output: null,
  status: 'pending',
  ui: 'form',
  resultSchema: null,
  answerBy: 'humans',
  resolvedBy: null,
  expiresAt: null,
  ...more,
});

/** A space that records in `sent` and answers as `space.respond` says. */
function newSpace() {
  const sent = [];
  const take = async (...given) => {
    sent.push(given);
    await space.respond();
  };
  const listeners = new Set();
  const space = {
    respond: async () => {},
    names: new Map(MEMBERS.map(({ id, name }) => [id, name])),
    answer: (...given) => take('answer', ...given),
    decline: (...given) => take('decline', ...given),
    nameOf: (id) => space.names.get(id) ?? 'Someone',
    openForms: [],
    setForms(forms) {
      space.openForms = forms;
      for (const listener of listeners) listener();
    },
    listeners,
    forms: {
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      getSnapshot: () => ({ forms: space.openForms }),
    },
  };
  return { space, sent };
}

/**
 * A page with one card. `show(part, props)` renders it; `find` and `all` select in it; `type`
 * types into a control, as a person would.
 */
export function openPage(t) {
  const root = document.body.appendChild(document.createElement('main'));
  const { space, sent } = newSpace();
  const nameOf = (id) => space.nameOf(id);
  const defaults = { space, people: PEOPLE, senderId: 'sarah', isOperator: true, nameOf, now: NOW };
  let shown = { ...defaults };
  const close = () => {
    render(null, root);
    root.replaceChildren();
  };
  t.after(() => {
    close();
    root.remove();
    clearDrafts();
  });
  return {
    space,
    sent,
    root,
    /** The time at which the page opens. */
    now: NOW,
    close,
    async show(part, props = {}) {
      const message = 'raw' in part ? null : { id: 'm1', seq: 1, runId: 'r', parts: [part] };
      shown = { ...shown, part, message, ...props };
      render(h(Card, shown), root);
      await settle();
    },
    /** Renders the same part with other props. */
    async change(props) {
      shown = { ...shown, ...props };
      render(h(Card, shown), root);
      await settle();
    },
    find: (selector) => root.querySelector(selector),
    all: (selector) => [...root.querySelectorAll(selector)],
    texts: (selector) => [...root.querySelectorAll(selector)].map((node) => node.textContent),
    /** The control with this label. */
    field(name) {
      const named = (node) => node.textContent.replace(/ \*$/, '') === name;
      const label = [...root.querySelectorAll('label')].find(named);
      return label.control;
    },
    /** The button with this text. */
    button: (text) =>
      [...root.querySelectorAll('button')].find((node) => node.textContent === text),
  };
}

/** Changes the value of a control, and fires the event of an input. */
export function type(control, value) {
  control.value = value;
  control.dispatchEvent(new window.Event('input', { bubbles: true }));
}

/** Clicks and waits until the page has changed. */
export async function click(node) {
  node.focus();
  node.click();
  await settle();
}

/** From now on the server refuses answers. */
export function refuse(page, status, problem) {
  page.space.respond = async () => {
    throw new SmartspaceError(status, problem);
  };
}
