// What the page loads once it shows: what waits for the caller, and the first screen of a space.

export { FirstScreen } from './first_screen.tsx';
export { FirstSteps } from './first_steps.tsx';
export { LoopAlarm } from './loop_alarm.tsx';
export { MemberCard } from './member_card.tsx';
export { NeedsYou } from './needs_you.tsx';
export { Notifications } from './notifications.tsx';
export { Overview } from './overview.tsx';
export { StopRoom } from './stop_space.tsx';
