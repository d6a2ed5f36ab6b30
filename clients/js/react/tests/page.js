// A page: a document for the process, and for each test a root in it.

import { Window } from 'happy-dom';
import { bundles, load } from './flavors.js';

// React takes these from the global scope.
const window = new Window({ url: 'https://page.example' });
globalThis.window = window;
for (const name of ['document', 'navigator', 'Node', 'Element', 'HTMLElement', 'HTMLIFrameElement'])
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

// React's own would keep the process alive.
globalThis.MessageChannel = class {
  port1 = { onmessage: null };
  port2 = { postMessage: () => setImmediate(() => this.port1.onmessage?.({})) };
};

/** React 18, React 19 and Preact, each with the hooks and the client. */
export const flavors = bundles.map((bundle) => ({ ...bundle, ...load(bundle.file) }));

/** What `console.error` gets from now on, until the test ends. */
export function heardErrors(t) {
  const mock = t.mock.method(console, 'error', () => {});
  return () => mock.mock.calls.map((call) => call.arguments.map(String).join(' '));
}

/** Calls `change`, and lets everything happen that does not wait for a timer. */
export async function settle({ act }, change = () => {}) {
  const turn = async () => {
    for (let count = 0; count < 20; count += 1) await new Promise(setImmediate);
  };
  await act(async () => {
    change();
    await turn();
  });
  // Preact runs effects when `act` ends, and they begin calls.
  await act(turn);
  await act(turn);
}

/** A root with `render(element)` and `unmount()`, and the element that contains it. */
export function pageOf(flavor) {
  const container = document.createElement('div');
  document.body.append(container);
  const root = flavor.createRoot(container);
  return {
    container,
    render: (element) => settle(flavor, () => root.render(element)),
    unmount: () => settle(flavor, () => root.unmount()),
  };
}

/** A client of the server. */
export const clientOf = ({ createClient }, { environment }) =>
  createClient({ url: 'https://api.example', token: 'token', environment });
