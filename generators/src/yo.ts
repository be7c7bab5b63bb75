import { join } from "node:path";
import type { BaseOptions } from "yeoman-generator";
import { AppGenerator, type AppSettings } from "./app-generator.js";
import { readAnswersOf, type YeomanOptions } from "./yeoman-options.js";

/** The folder of this package, two above the bundle. */
const packageRoot = join(import.meta.dirname, "../..");

/** The generator of Yeoman's command: `yo tsgi my-app --template api`. */
export default class YeomanAppGenerator extends AppGenerator {
  constructor(
    words: string[],
    options: BaseOptions & YeomanOptions,
    features?: ConstructorParameters<typeof AppGenerator>[2],
  ) {
    const { stdin, stdout } = process;
    const settings: BaseOptions & AppSettings = {
      ...options,
      packageRoot,
      command: readAnswersOf(words, options),
      isInteractive: stdin.isTTY && stdout.isTTY && options["yes"] !== true,
      print: (line) => stdout.write(`${line}\n`),
      cancellation: { consequence: "" },
    };
    super(words, settings, features);
  }

  // Yeoman runs the methods of a generator's own class, not inherited ones.

  override prompting(): Promise<void> {
    return super.prompting();
  }

  override writing(): Promise<void> {
    return super.writing();
  }

  override install(): Promise<void> {
    return super.install();
  }

  override end(): void {
    super.end();
  }
}
