/** The text of a key: `<prefix>_<id>_<random>_<checksum>`. @module */
import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ApiKeyRecord } from "./store.js";

/** Letters and digits only: a double click selects the whole key. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** As many digits as the 96 bits of an id, the 256 random bits and the 32 bits of a checksum need. */
const LENGTHS = { id: 17, random: 43, checksum: 6 };

/** Writes a number in base 62, with zeros before it. */
function base62(number: bigint, length: number): string {
  let text = "";
  for (let rest = number; text.length < length; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
}

const randomText = (bytes: number, length: number) => base62(BigInt(`0x${randomBytes(bytes).toString("hex")}`), length);
const checksumOf = (text: string) => base62(BigInt(crc32(text)), LENGTHS.checksum);

/** A fast hash is right here: 256 random bits cannot be guessed, so a salt and a slow hash add no protection. */
export const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");

/** Tells if a text has the form of an id. A database may not accept any other, such as one with a NUL. */
export const isId = (text: string): boolean => /^[0-9A-Za-z]{17}$/.test(text);

/** Creates a key, with the parts of it that a store keeps. */
export function createKey(prefix: string): { key: string } & Pick<ApiKeyRecord, "id" | "hash" | "hint"> {
  const id = randomText(12, LENGTHS.id);
  const random = randomText(32, LENGTHS.random);
  const text = `${prefix}_${id}_${random}`;
  const key = `${text}_${checksumOf(text)}`;
  return { id, key, hash: hashOf(key), hint: random.slice(-4) };
}

/** The form of the keys with a prefix of letters, digits, `_` and `-`. */
export function patternOf(prefix: string): RegExp {
  return new RegExp(`^${[prefix, ...Object.values(LENGTHS).map((length) => `([0-9A-Za-z]{${length}})`)].join("_")}$`);
}

/** The id of a key; `null` for a text in another form, and for one whose checksum is wrong. */
export function idOf(key: string, pattern: RegExp): string | null {
  const [, id = null, , checksum] = pattern.exec(key) ?? [];
  return checksum === checksumOf(key.slice(0, -LENGTHS.checksum - 1)) ? id : null;
}
