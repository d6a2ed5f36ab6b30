// What a message's dispatch says, in words: whom it woke, and why not the others. Pure.

const REASONS = {
  paused: 'paused',
  chain_depth: 'chain depth reached',
  policy: 'not woken because of the space’s policy',
  rate: 'too many runs a minute',
  budget: 'budget used up',
};

/** One line, or '' where there is nothing to say. `nameOf` names an agent by its id. */
export function dispatchText(dispatch, nameOf) {
  if (dispatch === undefined) return 'deciding whom to wake';
  const woken = dispatch.filter(({ runId }) => runId !== null).map(({ agentId }) => nameOf(agentId));
  const reasons = new Map();
  for (const { agentId, runId, reason } of dispatch) {
    if (runId === null) reasons.set(reason, [...(reasons.get(reason) ?? []), nameOf(agentId)]);
  }
  if (woken.length === 0 && reasons.size === 0) return '';
  if (woken.length === 0 && reasons.size === 1) return `woke nobody: ${wordsFor([...reasons.keys()][0])}`;
  // That the policy asked only some is what one expects when some were woken.
  if (woken.length > 0) reasons.delete('policy');
  const others = [...reasons].map(([reason, names]) => `${names.join(', ')}: ${wordsFor(reason)}`);
  const start = woken.length > 0 ? `woke ${woken.join(', ')}` : 'woke nobody';
  return others.length > 0 ? `${start} (${others.join('; ')})` : start;
}

const wordsFor = (reason) => REASONS[reason] ?? String(reason ?? 'no reason given');
