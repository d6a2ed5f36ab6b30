import type { ComponentChildren, JSX } from 'preact';

export interface SectionProps {
  title: string;
  children: ComponentChildren;
}

/** One answer of the drawer, below its title. */
export const Section = ({ title, children }: SectionProps): JSX.Element => (
  <section class="answer" aria-label={title}>
    <h3>{title}</h3>
    {children}
  </section>
);
