// The providers of models, and names of models to choose from. Pure.

import type { Schemas } from '@smartspace/client';

interface ProviderChoice {
  value: string;
  text: string;
}

/**
 * The providers of every deployment, with their names for people. The first one is the default of a
 * new agent.
 */
export const PROVIDERS: readonly [ProviderChoice, ...ProviderChoice[]] = [
  { value: 'anthropic', text: 'Anthropic' },
  { value: 'openai', text: 'OpenAI, or a server with its API' },
  { value: 'bedrock', text: 'Amazon Bedrock' },
  { value: 'scripted', text: 'Scripted: plays a script, needs no key' },
];

/** These providers, those that the operator added, and the one that is chosen now. */
export function providerChoices(
  listed: readonly Schemas['Provider'][],
  chosen: string,
): ProviderChoice[] {
  const choices = [...PROVIDERS];
  const add = (value: string, text: string) => {
    if (!choices.some((choice) => choice.value === value)) choices.push({ value, text });
  };
  for (const { name, host } of listed) add(name, host ? `${name}, at ${host}` : name);
  if (chosen !== '') add(chosen, chosen);
  return choices.map(({ value, text }) => ({
    value,
    text: keyOf(listed, value) === false ? `${text} · no key here` : text,
  }));
}

// Whether a key is set; null for a provider that needs none, and while the list is not loaded.
function keyOf(listed: readonly Schemas['Provider'][], chosen: string): boolean | null {
  const provider = listed.find(({ name }) => name === chosen);
  if (!provider || provider.own || KEYLESS.includes(chosen)) return null;
  return provider.hasKey;
}

/** The window that the provider's server says to have, if it says one. */
export function windowWords(
  listed: readonly Schemas['Provider'][],
  chosen: string,
): string | undefined {
  const window = listed.find(({ name }) => name === chosen)?.contextWindow;
  return window ? `Its server says ${window.toLocaleString()}.` : undefined;
}

const MODELS: Record<string, readonly string[]> = {
  anthropic: ['claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-opus-4-5'],
  openai: ['gpt-5-mini', 'gpt-5', 'gpt-5-nano', 'gpt-4.1', 'gpt-4.1-mini'],
  bedrock: [
    'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'amazon.nova-lite-v1:0',
  ],
  scripted: ['demo'],
};

/** Models of a provider to choose from. The first one is the default of a new agent. */
export const modelsOf = (provider: string): readonly string[] => MODELS[provider] ?? [];

const NEEDS: Record<string, string> = {
  anthropic: 'Smartspace needs ANTHROPIC_API_KEY in its environment.',
  openai:
    'Smartspace needs OPENAI_API_KEY in its environment, or OPENAI_BASE_URL for a server without ' +
    'a key.',
  bedrock: 'Smartspace needs AWS_REGION and AWS credentials in its environment.',
  scripted: 'It needs no key. The name may be any text.',
};

const KEYLESS = ['bedrock', 'scripted'];

/** What a provider needs, or that it has its key. */
export function needsOf(provider: string, listed: readonly Schemas['Provider'][] = []): string {
  if (keyOf(listed, provider)) return 'Its key is set.';
  return NEEDS[provider] ?? 'The operator’s configuration has its address and its key.';
}

/** The meaning of the rules of a script. */
export const SCRIPT_HINT =
  'The first rule that matches the message is played, one step for each answer.';

/** A model as `provider/name`. */
export const modelText = ({ provider, name }: { provider: string; name: string }): string =>
  `${provider}/${name}`;

/** The models in a text with one `provider/name` on each line, or an error. */
export function modelsIn(text: string): { provider: string; name: string }[] | string {
  const models = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [, provider, name] = /^([^/\s]+)\/(.+)$/.exec(line) ?? [];
    if (!provider || !name)
      return `Fallback models: expected provider/name, such as openai/gpt-5-mini, got “${line}”.`;
    models.push({ provider, name });
  }
  return models;
}
