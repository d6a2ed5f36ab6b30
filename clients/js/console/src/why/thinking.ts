// What a model thought, as texts. Each provider has a form of its own. Pure.

/** The fields that hold a text of the model. Others hold signatures, ids and encrypted data. */
const TEXTS = ['reasoning_content', 'reasoning', 'thinking', 'text', 'summary'];
/** The fields that hold such objects. Signatures of calls are no thoughts. */
const INSIDE = ['reasoning_details', 'content', 'blocks', 'reasoningContent', 'reasoningText'];

/** The text that a model thought. Empty if its provider sent it encrypted. */
export function thoughtsOf(thinking: unknown): string {
  const fields = isObject(thinking) ? thinking : {};
  const texts = Object.entries(fields).map(([name, value]) =>
    // Blocks follow each other; the items of other lists are pieces of one text.
    textsIn({ [name]: value }).join(name === 'blocks' ? '\n\n' : ''),
  );
  // Some servers send the same text in two fields.
  return [...new Set(texts.map((text) => text.trim()))].filter((text) => text !== '').join('\n\n');
}

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (typeof inner === 'string') return TEXTS.includes(name) ? [inner] : [];
    return TEXTS.includes(name) || INSIDE.includes(name) ? textsIn(inner) : [];
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
