import type { ComponentChildren, JSX } from 'preact';

export interface SectionProps {
  title: string;
  /** Shown at the end of the line with the title. */
  about?: ComponentChildren;
  children: ComponentChildren;
}

/** One answer of the drawer, below its title. */
export const Section = ({ title, about, children }: SectionProps): JSX.Element => (
  <section class="answer" aria-label={title}>
    <div class="answer-head">
      <h3>{title}</h3>
      {about ? <p class="note">{about}</p> : null}
    </div>
    {children}
  </section>
);
