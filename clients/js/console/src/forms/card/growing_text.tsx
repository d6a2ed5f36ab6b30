// Preformatted text that may grow.

import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { visible } from '../../ui/visible.ts';

/** Shows a text. If it grew, only the new end is appended, so a selection in it survives. */
export function GrowingText(props: { text: string }): JSX.Element {
  const text = visible(props.text);
  const ref = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    const node = ref.current;
    if (!node) return;
    const current = node.firstChild as Text | null;
    if (current && text.startsWith(current.data))
      current.appendData(text.slice(current.data.length));
    else node.textContent = text;
  }, [text]);
  return <pre ref={ref} />;
}
