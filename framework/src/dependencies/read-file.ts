import { type FormValue, UploadFile } from "../datastructures.js";
import { configurationError } from "../exceptions.js";
import type { SourceMarker } from "../params.js";
import { mediaTypeOf } from "../request.js";
import { type CompiledSchema, compileSchema, type Faults } from "../schema.js";
import { absenceOf } from "./absence.js";
import { INVALID, type Read } from "./plan.js";
import { type Make, type Source, wireName, withLocation } from "./read.js";

/** Whether a `File` gives a list: by its option, or by a list schema. */
export function isMultiple({ options, schema }: SourceMarker): boolean {
  return options.multiple ?? (schema !== null && compileSchema(schema).json?.type === "array");
}

/** Refuses a schema that no file fits. */
function assertFileSchema(compiled: CompiledSchema | null, where: string): void {
  const { type } = compiled?.json ?? {};
  if (type === undefined || type === "string" || type === "array") return;
  throw configurationError("TSGI_INVALID_FILE_SCHEMA", where, type);
}

/** A browser sends an input that was left blank as an empty file without a name, and some clients as empty text. */
function isBlank(value: FormValue): boolean {
  return typeof value === "string" ? value === "" : value.filename === "" && value.size === 0;
}

/** Whether a media type is of a range: the type itself, or `image/*`. RFC 9110 §12.5.1. */
function isWithin(mediaType: string, range: string): boolean {
  return range === "*/*" || range === mediaType || (range.endsWith("/*") && mediaType.startsWith(range.slice(0, -1)));
}

function compileOne(mediaTypes: readonly string[] | undefined): Make<FormValue> {
  const ranges = mediaTypes?.map((range) => range.toLowerCase());
  return (value, faults) => {
    if (!(value instanceof UploadFile)) return faults.add("file_type", "Input should be a file, not text", value);
    const { contentType } = value;
    if (ranges?.some((range) => isWithin(mediaTypeOf(contentType), range)) === false) {
      faults.add("content_type", `Content-Type of the file should be ${ranges.join(" or ")}`, contentType);
    }
    return value;
  };
}

function checkNumber(json: CompiledSchema["json"], count: number, faults: Faults): void {
  const { minItems = 0, maxItems = Infinity } = json ?? {};
  if (count < minItems) faults.add("too_short", `Expected at least ${minItems} files`, undefined);
  if (count > maxItems) faults.add("too_long", `Expected at most ${maxItems} files`, undefined);
}

function compileList(one: Make<FormValue>, json: CompiledSchema["json"]): Make<readonly FormValue[]> {
  return (values, faults) => {
    checkNumber(json, values.length, faults);
    return values.map((value, index) => {
      const before = faults.count;
      const file = one(value, faults);
      faults.within(before, index);
      return file;
    });
  };
}

/**
 * Compiles the reading of a file. Of several under the name of a single one the last counts.
 *
 * @throws ConfigurationError when its schema describes something else.
 */
export function compileFileRead({ name, marker, where }: Source): Read {
  const compiled = marker.schema && compileSchema(marker.schema);
  assertFileSchema(compiled, where);
  const absent = absenceOf(marker, compiled);
  const wire = wireName(name, marker);
  const one = compileOne(marker.options.mediaTypes);
  const list = isMultiple(marker) ? compileList(one, compiled?.json ?? null) : null;
  const make = withLocation(
    { loc: ["file", wire], names: [name, wire], maySuspend: false },
    (values: readonly FormValue[], faults) => {
      const last = values.at(-1);
      if (last === undefined) return absent.make(faults);
      return list ? list(values, faults) : one(last, faults);
    },
  );
  return (call) => {
    const body = call.formBody;
    if (body.state !== "present") return INVALID;
    return make(
      body.form.getAll(wire).filter((value) => !isBlank(value)),
      call,
    );
  };
}
