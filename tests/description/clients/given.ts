// What the suite has prepared, and its way to refuse an answer.

interface Given {
  base: string;
  key: string;
  space: string;
  agent: string;
  person: string;
}

export const given = JSON.parse(process.env.GIVEN ?? '{}') as Given;

export function check(isSo: unknown, shown: unknown): asserts isSo {
  if (!isSo) throw new Error(`unexpected: ${JSON.stringify(shown, null, 1)}`);
}
