import type { Answers } from "./answers.js";

/** A part of a project that a person may do without. */
interface Feature {
  /** The answer that decides. */
  answer: "docker" | "loadTests" | "ci";
  /** Its files; a template holds them all. */
  files: RegExp;
  /** The scripts of package.json that it needs. */
  scripts: readonly string[];
  /** The packages that only it needs. */
  packages: readonly string[];
}

const loadTests: Feature = {
  answer: "loadTests",
  files: /^(?:load-tests\/.*|scripts\/load\.js)$/,
  scripts: ["preload", "load"],
  packages: ["autocannon"],
};

const features: readonly Feature[] = [
  loadTests,
  {
    answer: "docker",
    files: /^(?:Dockerfile|\.dockerignore|compose\.yaml|test\/docker\.test\.ts)$/,
    scripts: [],
    packages: [],
  },
  { answer: "ci", files: /^\.github\//, scripts: [], packages: [] },
];

/** The scripts of the load test. */
export const loadScripts = loadTests.scripts;

/** Whether a file is part of the load test. */
export const isLoadTest = (path: string): boolean => loadTests.files.test(path);

/** What a project goes without. */
export class LeftOut {
  readonly #features: readonly Feature[];

  constructor(answers: Pick<Answers, Feature["answer"]>) {
    this.#features = features.filter(({ answer }) => !answers[answer]);
  }

  hasFile(path: string): boolean {
    return this.#features.some(({ files }) => files.test(path));
  }

  hasScript(name: string): boolean {
    return this.#features.some(({ scripts }) => scripts.includes(name));
  }

  hasPackage(name: string): boolean {
    return this.#features.some(({ packages }) => packages.includes(name));
  }
}
