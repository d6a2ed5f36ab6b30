// What answers an open card. A script of its own, because most cards are answered already.

export { DecisionForm } from './approval/decision_form.tsx';
export { FormView } from './form/form.tsx';
