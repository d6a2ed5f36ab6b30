// The frame of a page: its head, its tabs and its contents.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { PageHead } from '../../navigation/page_head.tsx';
import { NoticeLine, useNotice, wordsOf } from '../../ui/notices.tsx';
import { useTitle } from '../../ui/title.ts';

/** One tab of a page. */
export interface Tab {
  name: string;
  href: string;
  isCurrent: boolean;
}

export interface PageProps {
  title: string;
  /** Shown after the title: badges, a state. */
  about?: ComponentChildren;
  /** Buttons and links at the end of the head. */
  actions?: ComponentChildren;
  tabs?: readonly Tab[];
  children: ComponentChildren;
}

/** A page. Its heading has the focus when it opens. */
export function Page({ title, about, actions, tabs, children }: PageProps): JSX.Element {
  const notice = useNotice();
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the next key, so that it takes the focus from nothing that a person has reached.
  useLayoutEffect(() => heading.current?.focus(), []);
  useTitle(title);
  return (
    <main class="page">
      <PageHead title={title} heading={heading}>
        {about ? <div class="page-about">{about}</div> : null}
        <div class="head-actions">{actions}</div>
      </PageHead>
      <NoticeLine text={notice} />
      {tabs ? <Tabs tabs={tabs} /> : null}
      <div class="page-body">{children}</div>
    </main>
  );
}

// The current one is in view, also where there is no room for all.
function Tabs({ tabs }: { tabs: readonly Tab[] }) {
  const nav = useRef<HTMLElement>(null);
  const current = tabs.find(({ isCurrent }) => isCurrent)?.href;
  useLayoutEffect(() => {
    const tab = nav.current?.querySelector('[aria-current]');
    if (!nav.current || !tab) return;
    // `scrollIntoView` could move the page, too.
    const [all, one] = [nav.current.getBoundingClientRect(), tab.getBoundingClientRect()];
    nav.current.scrollLeft += (one.left + one.right - all.left - all.right) / 2;
  }, [current]);
  return (
    <nav ref={nav} class="tabs" aria-label="Parts of this page">
      {tabs.map(({ name, href, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** A part of a page below a heading of its own. */
export function Part({
  title,
  children,
}: {
  title: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export interface LoadedProps {
  isLoading: boolean;
  error: Error | null;
  /** Nothing has been loaded yet. */
  isEmpty: boolean;
  /** Shown if the list is empty. */
  empty?: ComponentChildren;
  children: ComponentChildren;
}

/** The loaded contents, or the error of the load. */
export function Loaded({ isLoading, error, isEmpty, empty, children }: LoadedProps): JSX.Element {
  return (
    <>
      <p class="problem" role="alert">
        {error ? wordsOf(error) : ''}
      </p>
      {isEmpty && !error ? <p class="empty">{isLoading ? 'Loading…' : empty}</p> : null}
      {isEmpty ? null : children}
    </>
  );
}

/** The button that loads the next page of a list. */
export const More = ({ pages }: { pages: { hasMore: boolean; more: () => void } }) =>
  // A list is loaded again all the time, and the button must not come and go with that.
  pages.hasMore ? (
    <button type="button" onClick={pages.more}>
      Show more
    </button>
  ) : null;
