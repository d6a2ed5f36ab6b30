// The tabs of the drawer.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

export interface TabsProps<Name extends string> {
  /** The name of the tabs for a screen reader. */
  label: string;
  tabs: readonly { name: Name; title: string }[];
  current: Name;
  onSelect: (name: Name) => void;
}

/** The id of the panel that the tabs control. */
export const PANEL = 'why-panel';

export const tabId = (name: string): string => `why-tab-${name}`;

/** Tabs. The arrow keys select the next one. */
export function Tabs<Name extends string>(props: TabsProps<Name>): JSX.Element {
  const { label, tabs, current, onSelect } = props;
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ name }) => name === current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const name = tabs[(to + tabs.length) % tabs.length]?.name;
    if (name === undefined) return;
    onSelect(name);
    list.current?.querySelector<HTMLElement>(`#${tabId(name)}`)?.focus();
  };
  return (
    <div ref={list} class="drawer-tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={tabId(name)}
          aria-selected={name === current}
          aria-controls={PANEL}
          tabIndex={name === current ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
