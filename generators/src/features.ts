import type { Answers } from "./answers.js";
import { hasDatabase } from "./databases.js";
import { hasPart, hasWorker, partsOf } from "./extras.js";

/** An optional part of a project. */
interface Feature {
  /** The option that selects it. */
  answer: "docker" | "loadTests" | "ci";
  /** Its files. Templates include them. */
  files: RegExp;
  /** Its scripts in package.json. */
  scripts: readonly string[];
  /** Packages that no other part needs. */
  packages: readonly string[];
}

const features: readonly Feature[] = [
  {
    answer: "loadTests",
    files: /^(?:load-tests\/.*|scripts\/load\.js)$/,
    scripts: ["preload", "load"],
    packages: ["autocannon"],
  },
  {
    answer: "docker",
    files: /^(?:Dockerfile|\.dockerignore|compose\.yaml)$/,
    scripts: [],
    packages: [],
  },
  { answer: "ci", files: /^\.github\//, scripts: [], packages: [] },
];

/** The modules of the template `api` that a database replaces. */
const memory = /^src\/store\.ts$/;

/** The parts that a project does without. */
export class LeftOut {
  readonly #features: readonly Feature[];
  readonly #hasDatabase: boolean;
  readonly #answers: Omit<Answers, "git" | "install">;

  constructor(answers: Omit<Answers, "git" | "install">) {
    this.#answers = answers;
    this.#features = features.filter(({ answer }) => !answers[answer]);
    this.#hasDatabase = hasDatabase(answers);
  }

  hasFile(path: string): boolean {
    return (
      this.#features.some(({ files }) => files.test(path)) ||
      (this.#hasDatabase && memory.test(path)) ||
      !partsOf(path, this.#answers.template).every((part) => hasPart(this.#answers, part))
    );
  }

  hasScript(name: string): boolean {
    const isUnused = name === "worker" && !hasWorker(this.#answers);
    return isUnused || this.#features.some(({ scripts }) => scripts.includes(name));
  }

  hasPackage(name: string): boolean {
    return this.#features.some(({ packages }) => packages.includes(name));
  }
}
