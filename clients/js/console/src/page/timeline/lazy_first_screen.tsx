// What an empty space shows, once its script is loaded.

import type { JSX } from 'preact';
import type { FirstScreenProps } from '../../home/first_screen.tsx';
import { useHomeScript } from '../scripts.ts';

export function LazyFirstScreen(props: FirstScreenProps): JSX.Element | null {
  const { script } = useHomeScript();
  return script && <script.FirstScreen {...props} />;
}
