// Views of pages, as trial kinds make them.

import { readFileSync } from "node:fs";

const known = JSON.parse(readFileSync(new URL("../views.json", import.meta.url), "utf8"));

/** A view by name, with other values of some fields. */
export const view = (name, more = {}) => ({ ...structuredClone(known[name]), ...more });

/** A trial with another name and other sounds. */
export function trial(kind, name = "1.1", more = {}) {
  const found = view(kind, { name, ...more });
  return { ...found, sounds: found.sounds.map((one) => ({ ...one, address: one.address.replace("/1.1/", `/${name}/`) })) };
}

export const end = () => view("end");
