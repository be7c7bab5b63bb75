import { Depends, t } from "tsgi";
import { loadSettings, secret } from "tsgi/settings";

/** The configuration. `databaseUrl` is read from `DATABASE_URL`, and so on. */
const Settings = t.Object({
  databaseUrl: secret(t.String({ default: "{{databaseUrl}}" })),
  // {{#postgresql}}
  databasePoolSize: t.Integer({ default: 10, minimum: 1 }),
  // {{/postgresql}}
});

/** @throws SettingsError that lists every invalid variable */
export const readSettings = () => loadSettings(Settings);

export const getSettings = async () => readSettings();
export const settings = Depends(getSettings, { scope: "app" });
