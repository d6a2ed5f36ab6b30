// The dispatch of a message in words: which agents it woke, and why it did not wake the others.
// Pure.

const REASONS = {
  paused: 'paused',
  chain_depth: 'chain depth reached',
  policy: 'not woken because of the space’s policy',
  router: 'not chosen by the router',
  no_admin: 'the admin agent has left, so only mentioned agents wake',
  rate: 'too many runs a minute',
  budget: 'budget used up',
  busy: 'too many active runs',
};

/**
 * One line, or '' if there is nothing to say. `nameOf` returns the name of an agent by its id, and
 * `router` is what the message says of the question to the router, if it was asked.
 */
export function dispatchText(dispatch, nameOf, router) {
  if (dispatch === undefined) return 'deciding whom to wake';
  const chosen = dispatch.filter(({ runId }) => runId !== null);
  const woken = chosen.map(
    ({ agentId, reasonText }) => nameOf(agentId) + (reasonText ? ` (${phrase(reasonText)})` : ''),
  );
  // If the message woke an agent, it is no surprise that the policy left out others.
  const left = dispatch.filter(
    ({ runId, reason }) => runId === null && !(woken.length > 0 && reason === 'policy'),
  );
  const reasons = new Map();
  for (const { agentId, reason, reasonText } of left) {
    const words = reasonText ? phrase(reasonText) : wordsFor(reason);
    reasons.set(words, [...(reasons.get(words) ?? []), nameOf(agentId)]);
  }
  const failed = router?.error ? [`the router did not answer: ${router.error}`] : [];
  if (woken.length === 0 && reasons.size + failed.length === 0) return '';
  if (woken.length === 0 && reasons.size === 1 && failed.length === 0)
    return `woke nobody: ${[...reasons.keys()][0]}`;
  const others = [...reasons].map(([words, names]) => `not ${listed(names)}: ${words}`);
  const start = woken.length > 0 ? `woke ${woken.join(', ')}` : 'woke nobody';
  return [start, ...failed, ...others].join('; ');
}

// Without the full stop of a sentence.
const phrase = (text) => text.trim().replace(/\.$/, '');

const MOST_NAMES = 6;

const listed = (names) =>
  names.length <= MOST_NAMES
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMES - 1).join(', ')} and ${names.length - MOST_NAMES + 1} others`;

const wordsFor = (reason) => REASONS[reason] ?? String(reason ?? 'no reason given');
