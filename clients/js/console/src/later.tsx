// What the page loads once it shows, a script of its own: the search, and the parts of a talk that
// somebody asks for.

export { SearchPage } from './search/search_page.tsx';
export { SwitcherDialog } from './search/switcher_dialog.tsx';
export { FailureLine } from './talk/failure_line.tsx';
export { FoldedCards } from './talk/folded_cards.tsx';
export { KeysDialog } from './talk/keys_dialog.tsx';
export { MessageBar } from './talk/message_bar.tsx';
export { OutcomeList } from './talk/outcome_list.tsx';
export { SystemLineView } from './talk/system_line.tsx';
