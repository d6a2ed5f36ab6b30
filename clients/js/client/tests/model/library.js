// The library under test: the built one, or one that a mutant has changed.

const { CLIENT_DIST = '../../dist' } = process.env;

/** A module of the library, also one that is not public. */
export const moduleOf = (path) => import(`${CLIENT_DIST}/${path}`);

export const { createClient, ClosedError } = await moduleOf('index.js');
