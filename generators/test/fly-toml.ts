/**
 * The names and types of `fly.toml` that projects use. Fly.io does not publish a schema. The names are in the structures `Config`,
 * `Build`, `HTTPService`, `ServiceHTTPCheck`, `Mount` and `Compute` of flyctl (`internal/appconfig/config.go` and `service.go`).
 */
type Shape = "string" | "boolean" | "integer" | "duration" | "strings" | { readonly [name: string]: Shape } | [Shape];

const SHAPE: Readonly<Record<string, Shape>> = {
  app: "string",
  primary_region: "string",
  kill_signal: "string",
  kill_timeout: "duration",
  build: { dockerfile: "string", image: "string", "build-target": "string" },
  env: "strings",
  http_service: {
    internal_port: "integer",
    force_https: "boolean",
    auto_stop_machines: "string",
    auto_start_machines: "boolean",
    min_machines_running: "integer",
    checks: [{ method: "string", path: "string", interval: "duration", timeout: "duration", grace_period: "duration" }],
  },
  mounts: { source: "string", destination: "string", initial_size: "string" },
  vm: [{ size: "string", memory: "string" }],
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const PRIMITIVES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  duration: (value) => typeof value === "string" && /^\d+(?:ms|s|m|h)$/.test(value),
  strings: (value) => isRecord(value) && Object.values(value).every((member) => typeof member === "string"),
};

/** The properties of a parsed `fly.toml` that flyctl does not read, or that have another type. */
export function findFlyFaults(value: unknown, shape: Shape = SHAPE, at = "fly.toml"): string[] {
  if (typeof shape === "string") return PRIMITIVES[shape]?.(value) ? [] : [`${at} is not a ${shape}`];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${at} is not an array`];
    return value.flatMap((member, index) => findFlyFaults(member, shape[0], `${at}[${index}]`));
  }
  if (!isRecord(value)) return [`${at} is not a table`];
  return Object.entries(value).flatMap(([name, member]) => {
    const expected = shape[name];
    return expected === undefined ? [`${at}.${name} is unknown`] : findFlyFaults(member, expected, `${at}.${name}`);
  });
}
