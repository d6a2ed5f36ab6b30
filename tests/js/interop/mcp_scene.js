// A person with a space, and raw requests of an MCP client.

import { ApiClient, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';

/**
 * A product with a person in a space: `{product, api, space, bearer, send, call}`. `bearer` is the
 * header with the person's token. `send` posts a request without a client, and `call` one that
 * calls a tool as the person.
 */
export async function scene(t, ...flags) {
  const product = await startProduct(...flags);
  t.after(product.stop);
  const api = new ApiClient(product);
  const husam = await api.createPerson('Husam');
  const space = await api.createSpace('Team', [husam]);
  const bearer = { authorization: `Bearer ${tokenOf(husam, product.jwtSecret)}` };
  const send = (method, params, headers, signal) =>
    fetch(`${product.base}/v1/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    });
  const call = async (name, input, { headers, signal } = {}) => {
    const params = { name, arguments: input };
    const response = await send('tools/call', params, { ...bearer, ...headers }, signal);
    return (await response.json()).result;
  };
  return { product, api, space, bearer, send, call };
}
