import { inspect } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { type } from "arktype";
import { z } from "zod";
import { ConfigurationError, t } from "../../src/index.js";
import { loadSettings, secret, SettingsError } from "../../src/contrib/settings/index.js";

const Settings = t.Object({
  databaseUrl: t.String({ pattern: "^postgres://" }),
  port: t.Integer({ default: 8000, minimum: 1 }),
  isDebug: t.Boolean({ default: false }),
  trustedProxies: t.Array(t.String(), { default: [] }),
  redisUrl: t.Optional(t.String({ minLength: 1 })),
  secretKey: secret(t.String({ minLength: 8 })),
});

const KEY = "a key that nobody sees";
const ENV = { DATABASE_URL: "postgres://localhost/shop", SECRET_KEY: KEY };

function faultsOf(schema: Parameters<typeof loadSettings>[0], env: Record<string, string>): readonly string[] {
  try {
    loadSettings(schema, { env });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    expect(error.message).toContain(error.faults.map(({ variable }) => `\n  ${variable}: `)[0]);
    return error.faults.map(({ variable, message }) => `${variable}: ${message}`);
  }
  return [];
}

describe("loadSettings", () => {
  it("reads variables, converts their values, fills in defaults, and returns a frozen object of the schema's type", () => {
    const env = { ...ENV, PORT: "80", IS_DEBUG: "yes", TRUSTED_PROXIES: "10.0.0.1, 10.0.0.2", OTHER: "left alone" };
    const settings = loadSettings(Settings, { env });
    const port: number = settings.port;
    expect({ ...settings, port }).toEqual({
      databaseUrl: "postgres://localhost/shop",
      port: 80,
      isDebug: true,
      trustedProxies: ["10.0.0.1", "10.0.0.2"],
      secretKey: KEY,
    });
    expect(Object.isFrozen(settings)).toBe(true);
    expect(loadSettings(Settings, { env: ENV })).toMatchObject({ port: 8000, isDebug: false, trustedProxies: [] });
  });

  it.each([
    ["databaseUrl", "DATABASE_URL"],
    ["databaseURL", "DATABASE_URL"],
    ["database_url", "DATABASE_URL"],
    ["URLOfDatabase", "URL_OF_DATABASE"],
    ["s3Bucket", "S3_BUCKET"],
    ["port", "PORT"],
  ])("reads %s from %s", (key, variable) => {
    const schema = t.Object({ [key]: t.String() });
    expect(loadSettings(schema, { env: { [variable]: "value" } })).toEqual({ [key]: "value" });
    expect(loadSettings(schema, { env: { [`APP_${variable}`]: "value" }, prefix: "APP_" })).toEqual({ [key]: "value" });
  });

  it("reads process.env unless it is given another environment", () => {
    const { version } = process;
    process.env["TSGI_TEST_OF_SETTINGS"] = version;
    try {
      expect(loadSettings(t.Object({ ofSettings: t.String() }), { prefix: "TSGI_TEST_" }).ofSettings).toBe(version);
    } finally {
      delete process.env["TSGI_TEST_OF_SETTINGS"];
    }
  });

  it("uses the first member of a union that accepts the value", () => {
    const schema = t.Object({
      release: t.Union([t.String(), t.Integer()]),
      workers: t.Union([t.Integer(), t.Literal("auto")]),
      origins: t.Union([t.Literal("*"), t.Array(t.String())]),
      hosts: t.Union([t.Literal("*"), t.Array(t.String())]),
    });
    const env = { RELEASE: "007", WORKERS: "auto", ORIGINS: "*", HOSTS: "a, b" };
    expect(loadSettings(schema, { env })).toEqual({ release: "007", workers: "auto", origins: "*", hosts: ["a", "b"] });
  });

  it("passes a value that cannot be converted to another library", () => {
    const schema = z.object({ port: z.int().catch(8000), level: z.number("Level should be a number").optional() });
    expect(loadSettings(schema, { env: { PORT: "http" } })).toEqual({ port: 8000 });
    expect(faultsOf(schema, { LEVEL: "high" })).toEqual(['LEVEL: Level should be a number, not "high"']);
  });

  it("lists every error with the name of its variable", () => {
    const env = { DATABASE_URL: "mysql://localhost", PORT: "eighty", TRUSTED_PROXIES: "a" };
    expect(faultsOf(Settings, env)).toEqual([
      'PORT: Input should be a valid integer, not "eighty"',
      expect.stringMatching(/^DATABASE_URL: .*, not "mysql:\/\/localhost"$/),
      "SECRET_KEY: is missing",
    ]);
  });

  it.each([
    ["a secret", { ...ENV, SECRET_KEY: "hunter2" }, "hunter2"],
    ["an address with a password", { ...ENV, DATABASE_URL: "mysql://ada:hunter2@localhost" }, "hunter2"],
  ])("does not show the value of an invalid %s", (_, env, hidden) => {
    const faults = faultsOf(Settings, env);
    expect(faults).toHaveLength(1);
    expect(faults.join("\n")).not.toContain(hidden);
  });

  it("treats an empty variable as unset if the schema does not accept an empty string", () => {
    const env = { ...ENV, PORT: "", REDIS_URL: "", NAME: "" };
    const schema = t.Composite([Settings, t.Object({ name: t.String({ default: "shop" }) })]);
    expect(loadSettings(schema, { env })).toMatchObject({ port: 8000, name: "" });
    expect(loadSettings(schema, { env })).not.toHaveProperty("redisUrl");
    expect(faultsOf(Settings, { ...ENV, SECRET_KEY: "" })).toEqual(["SECRET_KEY: is missing"]);
  });

  it.each([
    ["Zod", z.object({ port: z.coerce.number().default(8000), apiKey: secret(z.string().min(8)) })],
    [
      "Zod with a mark inside",
      z.object({ port: z.coerce.number().default(8000), apiKey: secret(z.string().min(8)).optional() }),
    ],
  ])("accepts a schema of %s", (_, schema) => {
    const settings = loadSettings(schema, { env: { API_KEY: "12345678" } });
    expect({ ...settings }).toEqual({ port: 8000, apiKey: "12345678" });
    expect(JSON.stringify(settings)).toBe('{"port":8000,"apiKey":"***"}');
    expect(faultsOf(schema, { API_KEY: "hunter2" }).join("\n")).toMatch(/^API_KEY: (?!.*hunter2)/);
  });

  it.each([
    ["no schema", {}, "TSGI_INVALID_SETTINGS"],
    ["a schema of something else", t.String(), "TSGI_INVALID_SETTINGS"],
    ["what no text can become", t.Object({ deep: t.Object({ er: t.String() }) }), "TSGI_SCHEMA_NOT_READABLE_FROM_TEXT"],
    ["what checks asynchronously", z.object({ a: z.string().refine(async () => true) }), "TSGI_INVALID_SETTINGS"],
  ])("rejects %s", (_, schema, code) => {
    expect(() => loadSettings(schema as never, { env: { A: "a" } })).toThrow(expect.objectContaining({ code }));
  });

  it("rejects an unknown option", () => {
    expect(() => loadSettings(Settings, { enviroment: ENV } as never)).toThrow(ConfigurationError);
  });
});

describe("secret", () => {
  it.each([
    ["JSON.stringify", (value: unknown) => JSON.stringify({ value })],
    ["String", (value: unknown) => String(value)],
    ["console.log", (value: unknown) => inspect({ value }, { depth: 5, showHidden: false })],
  ])("is not shown by %s of the settings, which shows the rest", (_, show) => {
    const text = show(loadSettings(Settings, { env: ENV }));
    expect(text).not.toContain(KEY);
    expect(text).toContain("8000");
    expect(text).toContain("secretKey");
  });

  it("holds below Optional", () => {
    const schema = t.Object({ token: t.Optional(secret(t.String())) });
    expect(JSON.stringify(loadSettings(schema, { env: { TOKEN: KEY } }))).toBe('{"token":"***"}');
    expect(JSON.stringify(loadSettings(schema, { env: {} }))).toBe("{}");
  });

  it.each([
    ["a union", t.Object({ token: t.Union([secret(t.String()), t.Null()]) })],
    ["the members of a list", t.Object({ token: t.Array(secret(t.String())) })],
    [
      "an intersection",
      t.Intersect([t.Object({ token: secret(t.String()) }), t.Object({ a: t.Optional(t.String()) })]),
    ],
    ["a module", t.Module({ Own: t.Object({ token: secret(t.String()) }) }).Import("Own")],
    ["a check behind the mark", z.object({ token: secret(z.string()).min(3) })],
    ["a description behind the mark", z.object({ token: secret(z.string()).describe("of the API") })],
    ["a transform", z.object({ token: secret(z.string()).transform((text) => text) })],
    ["a pipe", z.object({ token: z.string().pipe(secret(z.string())) })],
    ["a union of Zod", z.object({ token: z.union([secret(z.string()), z.null()]) })],
    ["a list of Zod", z.object({ token: z.array(secret(z.string())) })],
    ["a lazy schema", z.object({ token: z.lazy(() => secret(z.string())) })],
    ["an intersection of Zod", z.object({ token: secret(z.string()) }).and(z.object({ a: z.string().optional() }))],
    ["a transform of the whole", z.object({ token: secret(z.string()) }).transform((settings) => settings)],
  ])("holds below %s", (_, schema) => {
    const settings = loadSettings(schema, { env: { TOKEN: KEY } });
    expect(JSON.stringify(settings)).toBe('{"token":"***"}');
    expect(inspect(settings)).not.toContain(KEY.slice(0, 5));
  });

  it.each([
    ["the whole", []],
    ["another setting", ["a"]],
  ])("is in no message of a check of %s", (_, path) => {
    const error = ({ input }: { input?: unknown }) => `Bad: ${JSON.stringify(input)}`;
    const schema = z.object({ token: secret(z.string()), a: z.string() }).refine(() => false, { path, error });
    expect(faultsOf(schema, { TOKEN: KEY, A: "1" }).join("\n")).toMatch(/^(?!.*a key)/);
  });

  it.each([
    ["DATABASE_URL", "mysql://ann:hun/ter2hunter2@localhost/shop"],
    ["DATABASE_URL", "mysql://localhost/shop?user=ann&password=hunter2hunter2"],
    ["DATABASE_URL", "Server=localhost;Password=hunter2hunter2;"],
    ["ACCESS_TOKEN", "hunter2hunter2"],
  ])("is not needed to keep the password of %s=%s out of an error", (variable, text) => {
    const decode = (value: string): string => {
      throw new TypeError(`Not an address: ${value}`);
    };
    const own = t.Transform(t.String()).Decode(decode).Encode(String);
    for (const schema of [own, t.String({ pattern: "^postgres:" })]) {
      const faults = faultsOf(t.Object({ [variable]: schema }), { [variable]: text });
      expect(faults).toEqual([expect.stringMatching(/^(?!.*ter2)/)]);
    }
  });

  it("is read from a long text in linear time", () => {
    const env = { BLOB: "x".repeat(1_000_000), KEY: "k" };
    expect(faultsOf(t.Object({ blob: t.Integer(), key: secret(t.String()) }), env)).toHaveLength(1);
  });

  it.each([
    ["no schema", "key"],
    ["a schema that would lose the mark", type("string")],
  ])("rejects %s", (_, schema) => {
    expect(() => secret(schema as never)).toThrow(expect.objectContaining({ code: "TSGI_INVALID_SETTINGS" }));
  });
});
