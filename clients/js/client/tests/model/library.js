// The library under test: the built one, or one that a mutant has changed.

const { CLIENT_DIST } = process.env;

export const { createClient, ClosedError } = await import(
  CLIENT_DIST ? `${CLIENT_DIST}/index.js` : '../../dist/index.js'
);
