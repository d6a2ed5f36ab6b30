// The scene of the interop tests: a person in a space with two agents and another person.

import assert from 'node:assert/strict';
import { ApiClient, answerRule, callRule, formTool, tokenOf } from '../api_client.js';
import { startProduct } from '../product.js';

export const OPENING = 'The garden opens at nine in the morning.';
export const WEATHER = 'It will be \u{1f324}️ and warm all day.';
export const APPROVAL = { message: 'Order 40 roses?', options: ['Approve', 'Reject'] };
export const NOTE = { memories: [{ key: 'flowers', value: 'lilies' }] };

/**
 * `{product, api, husam, sarah, guide, weather, garden, secret, bearer}`: the space `garden` has
 * all four, `secret` has only Sarah and an agent. `bearer` is the header with Husam's token. Guide
 * asks before it orders roses, and notes lilies as a memory. Agents write a word in `wordDelayMs`.
 * `flags` are for the product.
 */
export async function startGarden(t, wordDelayMs = 0, ...flags) {
  const product = await startProduct(...flags);
  t.after(product.stop);
  const api = new ApiClient(product);
  const husam = await api.createPerson('Husam');
  const sarah = await api.createPerson('Sarah');
  const order = callRule('approve', APPROVAL, 'You chose: {{result.choice}}');
  const note = { ...callRule('set_memories', NOTE, 'Noted.'), when: { contains: 'lilies' } };
  const rules = [{ ...order, when: { contains: 'roses' } }, note, answerRule(OPENING)];
  const tools = [formTool('approve', { ui: 'buttons' })];
  const guide = await api.createAgent('Guide', rules, wordDelayMs, tools);
  const weather = await api.createAgent('Weather', [answerRule(WEATHER)], wordDelayMs);
  const mention = { triggerPolicy: 'mention' };
  const garden = await api.createSpace('Garden', [husam, sarah, guide, weather], mention);
  const secret = await api.createSpace('Secret', [sarah, guide]);
  const bearer = { authorization: `Bearer ${tokenOf(husam, product.jwtSecret)}` };
  return { product, api, husam, sarah, guide, weather, garden, secret, bearer };
}

/** Fails the test if somebody warns. */
export function withoutWarnings(t) {
  for (const method of ['warn', 'error'])
    t.mock.method(console, method, (...words) => assert.fail(`warned: ${words.join(' ')}`));
}

/** Lets people decide whether the guide notes anything. */
export function asksFirst({ api, guide }, rule = {}) {
  const approvals = [{ tools: ['set_memories'], ...rule }];
  return api.change(guide.id, { agent: { approvals } });
}

/** The message with the newest card in the space, and the card. */
export async function newestCard({ api, garden }) {
  const message = (await api.messages(garden)).findLast(({ parts }) => parts[0].type === 'tool');
  return { message, card: message.parts[0] };
}

/** Decides the call of the newest card over HTTP. */
export async function decide(scene, person, decision) {
  const { message, card } = await newestCard(scene);
  const { base, jwtSecret } = scene.product;
  const path = `/v1/runs/${message.runId}/toolCalls/${card.callId}/decision`;
  const headers = {
    authorization: `Bearer ${tokenOf(person, jwtSecret)}`,
    'content-type': 'application/json',
  };
  const body = JSON.stringify(decision);
  const { status } = await fetch(`${base}${path}`, { method: 'POST', headers, body });
  assert.equal(status, 202);
}
