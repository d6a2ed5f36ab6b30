// Many names in few words. Pure.

const MOST_NAMES = 6;

/** `Ana, Team assistant 01–22`: names that only count on are one. Of many names, the first ones. */
export function joinedNames(names: readonly string[]): string {
  const runs: string[][] = [];
  for (const name of names) {
    const last = runs.at(-1);
    if (last && follows(last.at(-1) ?? '', name)) last.push(name);
    else runs.push([name]);
  }
  const words = runs.map((run) => `${run[0]}${run.length > 1 ? `–${numberAt(run.at(-1))}` : ''}`);
  if (words.length <= MOST_NAMES) return words.join(', ');
  const shown = runs.slice(0, MOST_NAMES - 1).flat().length;
  return `${words.slice(0, MOST_NAMES - 1).join(', ')} and ${names.length - shown} others`;
}

const numberAt = (name = '') => /\d*$/.exec(name)?.[0] ?? '';

// Whether the name ends with the next number, and begins with the same words.
function follows(before: string, name: string) {
  const [one, other] = [numberAt(before), numberAt(name)];
  const isSame = before.slice(0, -one.length) === name.slice(0, -other.length);
  return one !== '' && other !== '' && isSame && Number(other) === Number(one) + 1;
}
