// Where an agent works: with a model here, or elsewhere. Pure.

import type { Schemas } from '@smartspace/client';
import type { JsonObject } from '../../save_form/merge_patch.ts';
import { modelText } from './models.ts';

type Config = Schemas['AgentConfig'];

export type Runtime = NonNullable<Config['runtime']>;

const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** The name in `${secret.NAME}`. Other texts stay as they are. */
export const secretName = (text: string): string => /^\$\{secret\.(.*)\}$/.exec(text)?.[1] ?? text;

/** Fields of a runtime with the secret as the API has it, or an error. */
export function runtimeWith(changed: JsonObject): JsonObject | string {
  const { secret } = changed;
  if (typeof secret !== 'string') return changed;
  const name = secretName(secret);
  // The server would store and show a secret that is typed here by mistake.
  if (!SECRET_NAME.test(name))
    return 'Secret: write only the name of a secret, in capital letters, such as REMOTE_AGENT.';
  return { ...changed, secret: `\${secret.${name}}` };
}

/** The model of an agent, or where a remote one works. */
export function workplaceText({ model, runtime }: Config): string {
  if (model) return modelText(model);
  // A newer server may know further kinds.
  return runtime ? `remote: ${hostOf(runtime.url)}` : 'unknown';
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
