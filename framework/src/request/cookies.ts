/** A cookie's value as `setCookie` wrote it: percent-encoding undone, where it is valid. */
function decodeValue(text: string): string {
  const value = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  if (!value.includes("%")) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/**
 * The cookies of a `Cookie` header, RFC 6265 §4.2, as a record without prototype. Of a name that comes twice the first
 * counts: a browser sends the one with the longer path first (§5.4).
 */
export function parseCookies(header: string | undefined): Record<string, string> {
  const cookies: Record<string, string> = Object.create(null) as Record<string, string>;
  if (header === undefined) return cookies;
  for (const part of header.split(";")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    if (name !== "" && !(name in cookies)) cookies[name] = decodeValue(part.slice(equals + 1).trim());
  }
  return cookies;
}
