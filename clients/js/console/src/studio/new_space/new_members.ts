// The requests of the dialog "New space" for people and agents that do not exist yet, and the
// places of its errors. Pure.

/** A person or an agent that the dialog creates. */
export interface NewMember {
  type: 'human' | 'agent';
  name: string;
}

/** The body of `POST /v1/entities`. A new agent plays a script, so that it needs no key. */
export const entityBody = ({ type, name }: NewMember): object =>
  type === 'human' ? { type, name } : { type, name, agent: scriptedAgent(name) };

const scriptedAgent = (name: string) => ({
  description: `${name} answers people from a script.`,
  model: {
    provider: 'scripted',
    name: 'starter',
    script: {
      wordDelayMs: 40,
      rules: [
        {
          when: { trigger: 'space_message', sender: 'human' },
          steps: [{ calls: [{ tool: 'send_message', input: { text: ANSWER } }] }],
        },
      ],
    },
  },
});

const ANSWER =
  'Hello {{sender}}! You wrote: {{message}}\n\nI play a script, so I need no key. ' +
  'To let me think, choose a model for me under Agents.';

/** The errors that the dialog shows, by the part that shows them. */
export interface Faults {
  name: string;
  members: string;
  others: string;
}

/** No errors. */
export const NOTHING: Faults = { name: '', members: '', others: '' };

/** The errors of `POST /v1/spaces` by the part of the dialog that shows them. */
export function placed(
  errors: readonly { pointer: string; detail: string }[],
  message: string,
): Faults {
  const at = (pattern: RegExp) =>
    errors
      .filter(({ pointer }) => pattern.test(pointer))
      .map(({ detail }) => detail)
      .join(' ');
  const [name, members] = [at(/^\/name/), at(/^\/members/)];
  return { name, members, others: name || members ? '' : message };
}
