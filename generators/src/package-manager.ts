import type { Environment } from "./npm-flags.js";
import { packageManagers, type PackageManager } from "./options.js";

/** What a person types for the everyday commands of a package manager. */
export interface Commands {
  install: string;
  /** Installs what the lock file says, and nothing else. */
  cleanInstall: string;
  /** Comes before the name of a script. */
  run: string;
  start: string;
  test: string;
  /** Takes the development packages away again. */
  prune: string;
}

const commands: Readonly<Record<PackageManager, Commands>> = {
  npm: {
    install: "npm install",
    cleanInstall: "npm ci",
    run: "npm run",
    start: "npm start",
    test: "npm test",
    prune: "npm prune --omit=dev",
  },
  pnpm: {
    install: "pnpm install",
    cleanInstall: "pnpm install --frozen-lockfile",
    run: "pnpm run",
    start: "pnpm start",
    test: "pnpm test",
    prune: "CI=true pnpm prune --prod",
  },
  yarn: {
    install: "yarn install",
    // As Yarn 1 says it; later ones still understand it.
    cleanInstall: "yarn install --frozen-lockfile",
    run: "yarn run",
    start: "yarn start",
    test: "yarn test",
    prune: "yarn install --production --frozen-lockfile",
  },
};

/** The commands of a package manager. */
export function commandsOf(packageManager: PackageManager): Commands {
  return commands[packageManager];
}

/**
 * The package manager behind `npm create`, `pnpm create` or `yarn create`: each sets `npm_config_user_agent`, which
 * begins with its name (`pnpm/10.1.0 npm/? node/…`). Otherwise npm, which comes with Node.
 */
export function detectPackageManager(environment: Environment): PackageManager {
  const name = environment["npm_config_user_agent"]?.split("/", 1)[0];
  return packageManagers.find((known) => known === name) ?? "npm";
}
