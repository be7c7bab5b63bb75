/** `file.ts` in bundles for the web, which has no files: an error if one is sent. @module */
import { configurationError } from "../../common/exceptions.js";
import { PREPARE, Response, type Sender } from "./response.js";
import type { FileResponseOptions } from "./file.js";

function missing(): Error {
  return configurationError("TSGI_MISSING_PLATFORM_MODULE", "FileResponse", "node:fs/promises");
}

/** A response with a file, which this platform cannot open. */
export class FileResponse extends Response {
  readonly path: string | URL;

  constructor(path: string | URL, options: FileResponseOptions = {}) {
    super(null, options);
    this.path = path;
  }

  /** @throws ConfigurationError always. */
  override async send(): Promise<void> {
    throw missing();
  }

  /** @throws ConfigurationError always. @internal */
  override [PREPARE](): Promise<Sender> {
    return Promise.reject(missing());
  }
}
