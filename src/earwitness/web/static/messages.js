// Words that the server put into the page, in the listener's language.

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/** Words by name, with places such as {count} filled in.
 * @param {string} name
 * @param {Record<string, string | number>} known */
export function say(name, known = {}) {
  const text = words[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (place, key) => (key in known ? String(known[key]) : place));
}
