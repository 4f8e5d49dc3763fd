// One tab at a time: a later tab detects an earlier one and can take over.

const REPLY = 120; // milliseconds in which an earlier tab replies
const GIVEN = 1000; // milliseconds after which a tab that does not hand over counts as closed

/** The channel between tabs; null if the browser does not support or allow it.
 * @param {string} link */
function opened(link) {
  try {
    return new BroadcastChannel(`earwitness ${link}`);
  } catch {
    return null;
  }
}

/** Watch for other tabs with the same link. `yielded(true)` is called when another tab has the test,
 * and `yielded(false, handed)` when this one has it; `handed` is true if another tab handed it over.
 * @param {string} link
 * @param {(elsewhere: boolean, handed: boolean) => void} yielded
 * @returns {{ take(): void, alone(): Promise<boolean> }} */
export function oneTab(link, yielded) {
  const channel = opened(link);
  if (!channel) return { take() {}, alone: async () => true };
  const since = performance.timeOrigin + Math.random();
  let own = true;
  let taking = false;
  let handed = false;
  /** @param {boolean} mine */
  const turn = (mine) => {
    [own, taking] = [mine, false];
    yielded(!mine, handed);
  };
  /** @type {Record<string, (since: number) => unknown>} */
  const told = {
    who: () => own && channel.postMessage({ kind: "me", since }),
    me: (other) => own && other < since && turn(false),
    take: () => own && (channel.postMessage({ kind: "yours" }), turn(false)),
    yours: () => taking && ((handed = true), turn(true)),
  };
  channel.onmessage = ({ data }) => told[data.kind]?.(data.since);
  channel.postMessage({ kind: "who", since });
  const asked = new Promise((done) => setTimeout(done, REPLY));
  return {
    /** Whether no earlier tab has the test. */
    alone: () => asked.then(() => own),
    take() {
      if (taking) return;
      [taking, handed] = [true, false];
      channel.postMessage({ kind: "take", since });
      setTimeout(() => taking && turn(true), GIVEN);
    },
  };
}
