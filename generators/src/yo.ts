import { join } from "node:path";
import Generator, { type BaseOptions } from "yeoman-generator";
import { main } from "./cli.js";
import { argumentsOf, type YeomanOptions } from "./yeoman-options.js";

/** The folder of this package, two above the bundle. */
const packageRoot = join(import.meta.dirname, "../..");

/** The generator of Yeoman's command, which calls this package's: `yo tsgi my-app --template api`. */
export default class YeomanGenerator extends Generator<Record<string, unknown>, BaseOptions & YeomanOptions> {
  async writing(): Promise<void> {
    process.exitCode = await main(argumentsOf(this.args, this.options), packageRoot);
  }
}
