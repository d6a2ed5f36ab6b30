// Turns the body of an agent's setup form into a merge patch of the entity. Pure.

import type { Schemas } from '@smartspace/client';
import { isObject } from '../../../forms/schema/json.ts';
import { mergePatch, type JsonObject } from '../../save_form/merge_patch.ts';
import { modelsIn } from './models.ts';
import { runtimeWith } from './runtime.ts';

/**
 * The patch for the changed fields in `body`, or an error. Documents that the form edits as a whole
 * become patches of their own, so that a removed member is removed.
 */
export function setupPatch(body: JsonObject, config: Schemas['AgentConfig']): JsonObject | string {
  if (!isObject(body.agent)) return body;
  const agent = { ...body.agent };
  if (isObject(agent.model)) {
    const model = modelPatch(agent.model, config.model ?? null);
    if (typeof model === 'string') return model;
    agent.model = model;
  }
  if (isObject(agent.runtime)) {
    const runtime = runtimeWith(agent.runtime);
    if (typeof runtime === 'string') return runtime;
    agent.runtime = runtime;
  }
  if (isObject(agent.webhooks)) agent.webhooks = mergePatch(config.webhooks ?? {}, agent.webhooks);
  return { ...body, agent };
}

function modelPatch(
  changed: JsonObject,
  before: Schemas['ModelConfig'] | null,
): JsonObject | string {
  const model = { ...changed };
  if (typeof model.fallback === 'string') {
    const models = modelsIn(model.fallback);
    if (typeof models === 'string') return models;
    model.fallback = models;
  }
  if (isObject(model.script)) model.script = mergePatch(before?.script ?? {}, model.script);
  const provider = model.provider ?? before?.provider;
  // Only scripted models may have a script.
  if (provider !== 'scripted' && before?.script) model.script = null;
  return model;
}

/** The patch that turns the stored configuration into the edited one. */
export const configPatch = (edited: JsonObject, config: Schemas['AgentConfig']): JsonObject => ({
  agent: mergePatch(config as unknown as JsonObject, edited),
});
