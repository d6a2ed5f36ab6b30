// What the page loads once it shows: what waits for the caller, the first screen of a space, the
// dialog of the switcher, and the page of a search.

export { SearchPage } from '../search/search_page.tsx';
export { SwitcherDialog } from '../search/switcher_dialog.tsx';
export { FirstScreen } from './first_screen.tsx';
export { NeedsYou } from './needs_you.tsx';
