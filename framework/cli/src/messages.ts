/**
 * The command.
 *
 * The command `tsgi` prints these errors and exits with status 1, or with status 2 if its arguments are invalid. See
 * [cli.md](cli.md).
 * @module
 */

export const COMMANDS = {
  /** You passed only one of `--tls-key` and `--tls-cert`. */
  TSGI_INCOMPLETE_TLS: (missing: string) => `TLS takes both --tls-key and --tls-cert. Add ${missing}.`,
  /**
   * The module is TypeScript, but it cannot be loaded.
   *
   * Node 22.18 and later can run TypeScript. On earlier versions, install `tsx` in your project.
   */
  TSGI_MISSING_TYPESCRIPT_LOADER: (file: string, version: string) =>
    `${file} is TypeScript, which Node ${version} does not run by itself.\nInstall tsx (npm install ` +
    "--save-dev tsx), compile the file and name the .js, or use Node 22.18 or later.",
  /** You passed a folder instead of a module. */
  TSGI_MODULE_IS_A_FOLDER: (name: string) =>
    `${name} is a folder. Name the file that exports the app, such as ${name}/app.ts.`,
  /**
   * The file does not exist.
   *
   * If a similar file exists, the message suggests it.
   */
  "TSGI_MODULE_NOT_FOUND.file": (name: string, suggestion: string) => `The file ${name} does not exist.${suggestion}`,
  "TSGI_MODULE_NOT_FOUND.package": (found: string) =>
    `"tsgi": { "module": … } of package.json must name the file that exports the app, but ${found}.`,
  /**
   * The job is not in the state that the command requires.
   *
   * `tsgi jobs list` shows the state of each job.
   */
  TSGI_JOB_IN_OTHER_STATE: (id: string, state: string, rule: string) => `The job ${id} is ${state}. ${rule}`,
  /**
   * The `Jobs` of the module have `inline: true`.
   *
   * Such jobs run in the process that enqueues them. So a worker and other processes cannot see them.
   */
  TSGI_JOBS_ARE_INLINE: (file: string) =>
    `The Jobs of ${file} are inline: they run in the process that enqueues them. Write new Jobs({ url }) to run or list ` +
    "them in another process, and check that the variable with the URL is set.",
  /**
   * The module does not export `Jobs`.
   *
   * `tsgi worker` and `tsgi jobs` use the only export that is made with `new Jobs()` of `@tsgi/jobs`.
   */
  TSGI_NO_JOBS_EXPORTED: (file: string) =>
    `${file} exports no Jobs. Write \`export const jobs = new Jobs({ url })\`, or name the module that does.`,
  /** The JSON that you passed to `tsgi client` is not an OpenAPI document. */
  TSGI_NOT_AN_OPENAPI_DOCUMENT: (source: string) =>
    `${source} is not an OpenAPI document: it has no member "openapi". Name one that tsgi openapi --out FILE ` +
    "wrote, or a module.",
  /**
   * The command needs an App of tsgi, but the module exports another ASGI application.
   *
   * `tsgi run` and `tsgi dev` can serve any ASGI application, but the command cannot read its routes.
   */
  TSGI_NOT_A_TSGI_APP: (file: string) =>
    `${file} exports an ASGI application, but no App of tsgi: its routes cannot be known. Name the module ` +
    "that exports the App.",
  /**
   * The module does not export an application.
   *
   * `tsgi` uses the export `app` or `default`.
   */
  TSGI_NO_APP_EXPORTED: (file: string, exported: string) => `${file} exports no application.\n${exported}`,
  /** You did not specify a module, and the default locations do not contain one. */
  TSGI_NO_MODULE_NAMED: (cwd: string) =>
    `No application was found in ${cwd}.\nName the file that exports it, as in \`tsgi dev src/app.ts\`, or ` +
    `in package.json: "tsgi": { "module": "src/app.ts" }.\nWithout a name, the first of these is taken: ` +
    "src/app, src/main, src/index, app, main, index; with .ts, .js or .mjs.",
  /** The module exports several `Jobs`, so the command cannot choose. */
  TSGI_SEVERAL_JOBS_EXPORTED: (file: string, count: number) =>
    `${file} exports ${count} Jobs. Export one, or name a module that does.`,
  /** A job with this id does not exist. Jobs that are done are deleted after a day, dead ones after 14 days. */
  TSGI_UNKNOWN_JOB: (id: string) => `The job ${id} does not exist.`,
  /** The document for `tsgi client` cannot be read. */
  "TSGI_UNREADABLE_DOCUMENT.file": (source: string, reason: string) => `${source} cannot be read: ${reason}`,
  "TSGI_UNREADABLE_DOCUMENT.check": (file: string, reason: string) =>
    `--check ${file} cannot be read: ${reason}. Make it with tsgi openapi --check ${file} --write, or name a JSON file ` +
    "that tsgi openapi wrote.",
  "TSGI_UNREADABLE_DOCUMENT.answer": (url: string, status: string) =>
    `${url} cannot be read: the response status is ${status}`,
  /** A file that you passed with a flag cannot be read. */
  "TSGI_UNREADABLE_FILE.env": (file: string, reason: string) => `--env-file ${file} cannot be read: ${reason}`,
  "TSGI_UNREADABLE_FILE.flag": (flag: string, file: string, reason: string) =>
    `${flag} ${file} cannot be read: ${reason}`,
  /**
   * The file of `--out`, or the standard output, cannot be written.
   *
   * The folder must exist, and its disk must have space.
   */
  "TSGI_UNWRITABLE_FILE.out": (file: string, reason: string) => `${file} cannot be written: ${reason}`,
  "TSGI_UNWRITABLE_FILE.output": (reason: string) =>
    `The standard output cannot be written, and is not complete: ${reason}`,
};
