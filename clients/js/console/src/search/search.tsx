// What searches messages, loaded once the page shows: the dialog of the switcher, and the page of a
// search.

export { SearchPage } from './search_page.tsx';
export { SwitcherDialog } from './switcher_dialog.tsx';
