/** `File()`: a parameter from an uploaded file. @module */
import { type FormValue, UploadFile } from "../http/upload-file.js";
import { configurationError } from "../common/exceptions.js";
import { parseMediaType } from "../protocol/http-grammar.js";
import { FLAG, LIST } from "../common/options.js";
import type { Faults } from "../schema/faults.js";
import type { JSONSchema } from "../schema/json-schema.js";
import { loadForm } from "./form.js";
import {
  absenceOf,
  createParamFunction,
  createSource,
  INVALID,
  Location,
  type Parameter,
  type Read,
  type SourceMarker,
} from "./source.js";
import { type FileFunction, ParamKind } from "./marker.js";

/** Tells a list of files: by the option, or by a list schema. */
function isMultiple({ options, compiled }: SourceMarker): boolean {
  return options.multiple ?? compiled.json?.type === "array";
}

/** A browser sends an input that was left blank as an empty file without a name, and some clients as empty text. */
function isBlank(value: FormValue): boolean {
  return typeof value === "string" ? value === "" : value.filename === "" && value.size === 0;
}

/** Tells if a media type is of a range: the type itself, or `image/*`. RFC 9110 §12.5.1. */
function isWithin(mediaType: string, range: string): boolean {
  return range === "*/*" || range === mediaType || (range.endsWith("/*") && mediaType.startsWith(range.slice(0, -1)));
}

/** The rules of a parameter's files. */
interface FileRules {
  readonly schema: JSONSchema;
  /** The media types that a file may have; `undefined` for any. */
  readonly ranges: readonly string[] | undefined;
}

function checkFile(value: FormValue, { ranges }: FileRules, faults: Faults): unknown {
  if (!(value instanceof UploadFile)) return faults.add("file_type", "Input should be a file, not text", value);
  const { contentType } = value;
  if (ranges?.some((range) => isWithin(parseMediaType(contentType), range)) === false) {
    faults.add("content_type", `Content-Type of the file should be ${ranges.join(" or ")}`, contentType);
  }
  return value;
}

function checkCount(count: number, { minItems = 0, maxItems = Infinity }: JSONSchema, faults: Faults): void {
  if (count < minItems) faults.add("too_short", `Expected at least ${minItems} files`, undefined);
  if (count > maxItems) faults.add("too_long", `Expected at most ${maxItems} files`, undefined);
}

function checkFiles(values: readonly FormValue[], rules: FileRules, faults: Faults): unknown[] {
  checkCount(values.length, rules.schema, faults);
  return values.map((value, index) => {
    const before = faults.count;
    const file = checkFile(value, rules, faults);
    faults.within(before, index);
    return file;
  });
}

/** Compiles the reading of a file. Of several under the name of a single one the last counts. */
function compileRead(parameter: Parameter): Read {
  const { name, marker, where } = parameter;
  const schema = marker.compiled.json ?? {};
  const { type = "string" } = schema;
  if (type !== "string" && type !== "array") throw configurationError("TSGI_INVALID_FILE_SCHEMA", where, type);
  const absent = absenceOf(marker, where);
  const wire = marker.wireName(name);
  const rules = { schema, ranges: marker.options.mediaTypes?.map((range) => range.toLowerCase()) };
  const isList = isMultiple(marker);
  const location = new Location(parameter, ["file", wire]);
  const make = (values: readonly FormValue[], faults: Faults) => {
    const last = values.at(-1);
    if (last === undefined) return absent.make(faults);
    return isList ? checkFiles(values, rules, faults) : checkFile(last, rules, faults);
  };
  return ({ form, faults }) => {
    if (!form?.data) return INVALID;
    const before = faults.count;
    const result = make(
      form.data.getAll(wire).filter((value) => !isBlank(value)),
      faults,
    );
    return faults.count === before ? result : location.mark(faults, before);
  };
}

/** Allows `null`, and an empty list where files come as a list: no value in a program is a file. */
function compileDefault({ options, schema }: SourceMarker, value: unknown, where: string): () => unknown {
  if (value === null) return () => null;
  const takesList = options.multiple === true || schema !== null;
  if (takesList && Array.isArray(value) && value.length === 0) return () => [];
  throw configurationError("TSGI_INVALID_FILE_DEFAULT", where);
}

/** OpenAPI 3.0.3 §4.7.14.2. */
function toJSONSchema(marker: SourceMarker): JSONSchema {
  const file = { type: "string", format: "binary" };
  if (!isMultiple(marker)) return file;
  const { minItems, maxItems } = marker.compiled.json ?? {};
  return {
    type: "array",
    items: file,
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
  };
}

/** The files of a multipart form. */
export const FILE = createSource({
  kind: ParamKind.FILE,
  functionName: "File",
  loc: "file",
  body: "multipart",
  load: [loadForm],
  ownOptions: { multiple: FLAG, mediaTypes: LIST },
  compileRead,
  compileDefault,
  toJSONSchema,
});

/**
 * A file of a multipart form, as an {@link UploadFile}; with `multiple: true` a list of all files under the name. A list
 * schema says the same, and how many there may be. A file input left blank counts as absent.
 *
 * @example
 * ```ts
 * import { App, File, t } from "tsgi";
 *
 * const app = new App();
 * app.post(
 *   "/photos",
 *   { params: { cover: File({ mediaTypes: ["image/*"] }), photos: File({ multiple: true, default: [] }) } },
 *   async ({ cover, photos }) => ({ cover: cover.filename, photos: photos.length }),
 * );
 * ```
 */
export const File: FileFunction = createParamFunction(FILE);
