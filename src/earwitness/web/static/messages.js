// Texts in the listener's language, embedded in the page by the server.

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/** Return a text by name, with placeholders such as {count} filled in.
 * @param {string} name
 * @param {Record<string, string | number>} known */
export function say(name, known = {}) {
  const text = words[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (place, key) => (key in known ? String(known[key]) : place));
}
