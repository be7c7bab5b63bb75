/** Multipart forms as clients send them. */

/** A file to send. */
export interface SentFile {
  readonly filename: string;
  readonly content: string | Uint8Array;
  readonly type?: string;
}

/** A part: a name, and text or a file. */
export type SentPart = readonly [name: string, value: string | SentFile];

export const BOUNDARY = "----boundary1234";

const headersOf = (boundary: string) => [["content-type", `multipart/form-data; boundary=${boundary}`]] as const;

/** The head of one part as browsers write it. */
export function partHead(name: string, file?: Omit<SentFile, "content">): string {
  const filename = file ? `; filename="${file.filename}"` : "";
  const type = file?.type ? `Content-Type: ${file.type}\r\n` : "";
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n${type}\r\n`;
}

/** The end of a form. */
export const CLOSING = `\r\n--${BOUNDARY}--\r\n`;

/** A multipart form with its content type, ready to be sent. */
export function multipart(...parts: readonly SentPart[]) {
  const bytes = parts.flatMap(([name, value]) => {
    const content = typeof value === "string" ? value : value.content;
    const head = partHead(name, typeof value === "string" ? undefined : value);
    return [Buffer.from(head), Buffer.from(content), Buffer.from("\r\n")];
  });
  return { headers: headersOf(BOUNDARY), body: Buffer.concat([...bytes, Buffer.from(`--${BOUNDARY}--\r\n`)]) };
}

/** A body written by hand, with the content type of a multipart form. */
export function rawMultipart(body: string | Uint8Array, boundary = BOUNDARY) {
  return { headers: headersOf(boundary), body: Buffer.from(body) };
}
