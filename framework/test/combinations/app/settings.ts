/** The settings of the library, from the environment. @module */
import { t } from "tsgi";
import { loadSettings, secret, SettingsError, type SettingsFault, type SettingsOptions } from "tsgi/settings";

const Settings = t.Object({
  title: t.String({ default: "Tool library" }),
  openapiVersion: t.Union([t.Literal("3.0"), t.Literal("3.1"), t.Literal("3.2")], { default: "3.0" }),
  poolKind: t.Union([t.Literal("process"), t.Literal("thread"), t.Literal("inline")], { default: "inline" }),
  ownOrigins: t.Array(t.String(), { default: ["https://tools.example"] }),
  sessionSecret: secret(t.String({ minLength: 32 })),
  deskKey: secret(t.String({ minLength: 8 })),
});

export type Settings = ReturnType<typeof readSettings>;

/** Reads `TOOLS_TITLE` and the like. */
export function readSettings(env: SettingsOptions["env"]) {
  return loadSettings(Settings, { env, prefix: "TOOLS_" });
}

/** Names the variables that have to be changed, for the person who starts the program. */
export function explainSettings(error: unknown): string {
  if (!(error instanceof SettingsError)) throw error;
  return error.faults.map(({ variable, message }: SettingsFault) => `${variable}: ${message}`).join("\n");
}
