// The present time, for components that show the time that is left.

import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 5000;

/**
 * The present time in milliseconds since 1970. With `isMoving` the component renders again every
 * few seconds.
 */
export function useNow(isMoving: boolean): number {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isMoving]);
  return Date.now();
}
