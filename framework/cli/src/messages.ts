/**
 * The command.
 *
 * `tsgi` says these, and ends with status 1, or 2 where the line was wrong. See [cli.md](cli.md).
 * @module
 */

export const COMMANDS = {
  /** One of `--tls-key` and `--tls-cert` was given without the other. */
  TSGI_INCOMPLETE_TLS: (missing: string) => `TLS takes both --tls-key and --tls-cert. Add ${missing}.`,
  /**
   * The module is TypeScript, and nothing here can load it.
   *
   * Node runs TypeScript by itself from 22.18 on; before that the project's own `tsx` does.
   */
  TSGI_MISSING_TYPESCRIPT_LOADER: (file: string, version: string) =>
    `${file} is TypeScript, which Node ${version} does not run by itself.\nInstall tsx (npm install ` +
    "--save-dev tsx), compile the file and name the .js, or use Node 22.18 or later.",
  /** A folder was named where the module is asked for. */
  TSGI_MODULE_IS_A_FOLDER: (name: string) =>
    `${name} is a folder. Name the file that exports the app, such as ${name}/app.ts.`,
  /**
   * A file of the given name does not exist.
   *
   * The message has the file that was probably meant.
   */
  "TSGI_MODULE_NOT_FOUND.file": (name: string, suggestion: string) => `There is no file ${name}.${suggestion}`,
  "TSGI_MODULE_NOT_FOUND.package": (found: string) =>
    `"tsgi": { "module": … } of package.json must name the file that exports the app, but ${found}.`,
  /** The JSON that `tsgi client` was given is not an OpenAPI document. */
  TSGI_NOT_AN_OPENAPI_DOCUMENT: (source: string) =>
    `${source} is not an OpenAPI document: it has no member "openapi". Name one that tsgi openapi --out FILE ` +
    "wrote, or a module.",
  /**
   * The command needs an App of tsgi, and the module exports another ASGI application.
   *
   * `tsgi run` and `tsgi dev` serve any ASGI application; its routes are its own.
   */
  TSGI_NOT_A_TSGI_APP: (file: string) =>
    `${file} exports an ASGI application, but no App of tsgi: its routes cannot be known. Name the module ` +
    "that exports the App.",
  /**
   * The module exports no application.
   *
   * `tsgi` takes the export `app`, or `default`.
   */
  TSGI_NO_APP_EXPORTED: (file: string, exported: string) => `${file} exports no application.\n${exported}`,
  /** No module was named, and none is where it is looked for. */
  TSGI_NO_MODULE_NAMED: (cwd: string) =>
    `No application was found in ${cwd}.\nName the file that exports it, as in \`tsgi dev src/app.ts\`, or ` +
    `in package.json: "tsgi": { "module": "src/app.ts" }.\nWithout a name, the first of these is taken: ` +
    "src/app, src/main, src/index, app, main, index; with .ts, .js or .mjs.",
  /** The document for `tsgi client` cannot be read. */
  "TSGI_UNREADABLE_DOCUMENT.file": (source: string, reason: string) => `${source} cannot be read: ${reason}`,
  "TSGI_UNREADABLE_DOCUMENT.check": (file: string, reason: string) =>
    `--check ${file} cannot be read: ${reason}. Make it with tsgi openapi --check ${file} --write, or name a JSON file ` +
    "that tsgi openapi wrote.",
  "TSGI_UNREADABLE_DOCUMENT.answer": (url: string, status: string) => `${url} cannot be read: the answer is ${status}`,
  /** A file that a flag names cannot be read. */
  "TSGI_UNREADABLE_FILE.env": (file: string, reason: string) => `--env-file ${file} cannot be read: ${reason}`,
  "TSGI_UNREADABLE_FILE.flag": (flag: string, file: string, reason: string) =>
    `${flag} ${file} cannot be read: ${reason}`,
  /**
   * The file of `--out` cannot be written.
   *
   * Its folder has to be there.
   */
  TSGI_UNWRITABLE_FILE: (file: string, reason: string) => `${file} cannot be written: ${reason}`,
};
