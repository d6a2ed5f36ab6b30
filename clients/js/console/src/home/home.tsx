// What the page loads once it shows: what waits for the caller, and the first screen of a space.

export { FirstScreen } from './first_screen.tsx';
export { NeedsYou } from './needs_you.tsx';
