// The dispatch of a message in words: which agents it woke, and why it did not wake the others.
// Pure.

const REASONS = {
  paused: 'paused',
  chain_depth: 'chain depth reached',
  policy: 'not woken because of the space’s policy',
  no_admin: 'the admin agent has left, so only mentioned agents wake',
  rate: 'too many runs a minute',
  budget: 'budget used up',
  busy: 'too many active runs',
};

/** One line, or '' if there is nothing to say. `nameOf` returns the name of an agent by its id. */
export function dispatchText(dispatch, nameOf) {
  if (dispatch === undefined) return 'deciding whom to wake';
  const woken = dispatch
    .filter(({ runId }) => runId !== null)
    .map(({ agentId }) => nameOf(agentId));
  const reasons = new Map();
  for (const { agentId, runId, reason } of dispatch) {
    if (runId === null) reasons.set(reason, [...(reasons.get(reason) ?? []), nameOf(agentId)]);
  }
  if (woken.length === 0 && reasons.size === 0) return '';
  if (woken.length === 0 && reasons.size === 1)
    return `woke nobody: ${wordsFor([...reasons.keys()][0])}`;
  // If the message woke an agent, it is no surprise that the policy left out others.
  if (woken.length > 0) reasons.delete('policy');
  const others = [...reasons].map(([reason, names]) => `${names.join(', ')}: ${wordsFor(reason)}`);
  const start = woken.length > 0 ? `woke ${woken.join(', ')}` : 'woke nobody';
  return others.length > 0 ? `${start} (${others.join('; ')})` : start;
}

const wordsFor = (reason) => REASONS[reason] ?? String(reason ?? 'no reason given');
