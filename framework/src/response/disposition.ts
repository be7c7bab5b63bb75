/** RFC 8187 §3.2.1 `attr-char`: `encodeURIComponent` leaves four more characters as they are. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The value of a `Content-Disposition` header. A name beyond plain ASCII is given twice: readable by old clients, and
 * whole in `filename*`.
 *
 * @throws TypeError when the name has a control character, or no character that is none of a path.
 * @see RFC 6266 §4.3 and appendix D
 */
export function contentDisposition(type: "attachment" | "inline", filename: string): string {
  if (type !== "attachment" && type !== "inline") {
    throw new TypeError(`The disposition of a file should be "attachment" or "inline", not ${JSON.stringify(type)}.`);
  }
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(filename)) {
    throw new TypeError(`The filename ${JSON.stringify(filename)} has a control character.`);
  }
  // A client may take a slash for a folder of its own.
  const name = filename.toWellFormed().slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
  if (name === "") throw new TypeError(`The filename ${JSON.stringify(filename)} names no file.`);
  const plain = name.replaceAll(/[^\u0020-\u007e]/gu, "_").replaceAll(/["%]/g, "_");
  const extended = plain === name ? "" : `; filename*=UTF-8''${encodeExtended(name)}`;
  return `${type}; filename="${plain}"${extended}`;
}
