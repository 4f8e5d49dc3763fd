// One tab at a time: a later one sees that an earlier one is there, and may take over.

/** Watch for other tabs with the same link; `yielded(true)` when another has the test. */
export function oneTab(link, yielded) {
  if (!globalThis.BroadcastChannel) return { take() {} };
  const channel = new BroadcastChannel(`earwitness ${link}`);
  const since = performance.timeOrigin + Math.random();
  let own = true;
  const turn = (mine) => {
    own = mine;
    yielded(!mine);
  };
  const told = {
    who: () => own && channel.postMessage({ kind: "me", since }),
    me: (other) => own && other < since && turn(false),
    take: () => own && turn(false),
  };
  channel.onmessage = ({ data }) => told[data.kind]?.(data.since);
  channel.postMessage({ kind: "who", since });
  return {
    take() {
      channel.postMessage({ kind: "take", since });
      turn(true);
    },
  };
}
