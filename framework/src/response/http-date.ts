/** RFC 9110 §5.6.7: the one form that is sent, and the two obsolete ones that are still understood. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** An HTTP date in milliseconds since 1970, whole seconds; `null` for anything else. */
export function parseHTTPDate(text: string): number | null {
  const isKnown = IMF_FIXDATE.test(text) || RFC_850.test(text);
  if (!isKnown && !ASCTIME.test(text)) return null;
  const milliseconds = Date.parse(isKnown ? text : `${text} GMT`);
  return Number.isNaN(milliseconds) ? null : milliseconds;
}
