// Advice about failed runs. Pure.

import type { Run, Schemas } from '@smartspace/client';

type Code = Schemas['FailureCode'];

const ADVICE: Record<Code, string> = {
  not_configured:
    'Smartspace lacks what it needs to ask the provider, such as a key. Set it, or ' +
    'choose another model in the agent’s Setup. Then retry.',
  unauthorized:
    'The provider refused the key. Check the key, and that its account may use this model.',
  rate_limited:
    'The provider accepts no more requests at the moment. Retry later, or add fallback ' +
    'models in the agent’s Setup.',
  overloaded:
    'The provider is overloaded or can’t be reached. Retry later, or add fallback models ' +
    'in the agent’s Setup.',
  context_too_long:
    'The prompt is longer than the model can read. Put fewer messages into the prompt, ' +
    'or choose another model in the agent’s Setup.',
  bad_request:
    'The provider refused the request. Check the name of the model in the agent’s Setup, ' +
    'and the quota of the key.',
  broken_stream: 'The model’s answer broke off. Retry.',
  budget:
    'A budget for today has no room for another request. Raise the limit of the agent or ' +
    'of the space, or wait until midnight UTC.',
  timeout:
    'Look at the agent’s log: it has to complete each run. If it needs longer, raise the ' +
    'time limit in its Setup. Then retry.',
  refused:
    'Check the address in the agent’s Setup, and that the agent checks signatures with ' +
    'the same secret. Then retry.',
  remote: 'This is the reason that the remote agent reported. Look at its log, then retry.',
  attempts: 'The run was interrupted five times. Look at the log of Smartspace, then retry.',
  internal: 'Something went wrong in Smartspace. Its log says more.',
};

// The advice for remote agents, where these codes have another meaning.
const REMOTE: Partial<Record<Code, string>> = {
  not_configured:
    'Smartspace could not send the run to the remote agent. Check the address and the ' +
    'name of the secret in its Setup, and that Smartspace was started with the secret. A ' +
    'private address has to be listed in SMARTSPACE_TOOL_HOSTS. Then retry.',
  overloaded:
    'The remote agent is overloaded or can’t be reached. Check that it runs, and that ' +
    'the address in its Setup is right. Then retry.',
};

/** Advice about a failed run; null if there is none. */
export function adviceOf({ error, remote }: Run): string | null {
  if (!error) return null;
  const { code } = error;
  // A newer server may have further codes.
  return (remote ? REMOTE[code] : undefined) ?? ADVICE[code] ?? null;
}
