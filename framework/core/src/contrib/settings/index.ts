/** The settings of an application, from the environment. @module */
export { loadSettings, secret, SettingsError, type SettingsFault, type SettingsOptions } from "./settings.js";
