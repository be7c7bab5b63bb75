import { configurationError } from "../exceptions.js";
import { ParamKind, type SourceMarker } from "../params.js";
import { compileMarkerDefault, type CompiledSchema, type Faults, t } from "../schema.js";

/** What stands in for an absent value: a default, `undefined` for an optional one, or the fault `missing`. */
export interface Absence {
  readonly isRequired: boolean;
  readonly make: (faults: Faults) => unknown;
}

const REQUIRED: Absence = {
  isRequired: true,
  make: (faults) => faults.add("missing", "Field required", null),
};

/** The schema of a parameter that is declared with none. */
export const TEXT = t.String();

/**
 * Works out what an absent value becomes, from the descriptor first and the schema next.
 *
 * @param compiled - The parameter's schema, `null` for text.
 * @param where - Which parameter it is, for the message.
 * @throws ConfigurationError when the default does not fit.
 */
export function absenceOf(marker: SourceMarker, compiled: CompiledSchema | null, where = "a parameter"): Absence {
  const { default: value } = marker.options;
  if (value !== undefined) {
    const make = marker.kind === ParamKind.FILE ? defaultOfFile(marker, value, where) : defaultOf(marker, value, where);
    return { isRequired: false, make };
  }
  return compiled?.absent ? { isRequired: false, make: compiled.absent } : REQUIRED;
}

function defaultOf(marker: SourceMarker, value: unknown, where: string): () => unknown {
  return compileMarkerDefault(marker.schema ?? TEXT, value, where);
}

/** Nothing but nothing can stand in for a file. */
function defaultOfFile({ options, schema }: SourceMarker, value: unknown, where: string): () => unknown {
  if (value === null) return () => null;
  const takesList = options.multiple === true || schema !== null;
  if (takesList && Array.isArray(value) && value.length === 0) return () => [];
  throw configurationError("TSGI_INVALID_FILE_DEFAULT", where);
}
