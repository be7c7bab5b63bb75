/** Text and headers as bytes, and back. @module */
import type { HeaderPair } from "tsgi";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/** UTF-8 of all parts together. */
export function textOf(...parts: readonly Uint8Array[]): string {
  let text = "";
  const stream = new TextDecoder();
  for (const part of parts) text += stream.decode(part, { stream: true });
  return text + stream.decode();
}

/** Headers as text, in their order. */
export type TextHeaders = readonly (readonly [name: string, value: string])[];

/** Headers as ASGI has them. */
export function toPairs(headers: TextHeaders): HeaderPair[] {
  return headers.map(([name, value]) => [encoder.encode(name), encoder.encode(value)]);
}

/** Headers of ASGI as text. */
export function toText(headers: Iterable<HeaderPair> | undefined): [name: string, value: string][] {
  return Array.from(headers ?? [], ([name, value]) => [decoder.decode(name), decoder.decode(value)]);
}

/** The values under one name, in their order. */
export function valuesOf(headers: TextHeaders, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}
