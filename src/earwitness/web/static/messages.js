// Texts in the listener's language, embedded in the page by the server.

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/** All texts whose names start with a prefix, by the rest of their names.
 * @param {string} prefix */
export function wordsOf(prefix) {
  const own = Object.entries(words).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, text]) => [name.slice(prefix.length), text]));
}

/** Return a text by name, with placeholders such as {count} filled in.
 * @param {string} name
 * @param {Record<string, string | number>} known */
export function say(name, known = {}) {
  const text = words[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (place, key) => (key in known ? String(known[key]) : place));
}
