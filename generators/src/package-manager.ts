import type { Environment } from "./npm-flags.js";
import { packageManagers, type PackageManager } from "./options.js";
import type { Installer } from "./runtimes.js";

/** The common commands of a package manager. */
export interface Commands {
  install: string;
  /** Installs exactly the lock file. */
  cleanInstall: string;
  /** The prefix of a script's name. */
  run: string;
  start: string;
  test: string;
  /** Removes the development packages. */
  prune: string;
}

/**
 * `npm prune --omit=dev` keeps development packages that are optional peers of others: Prisma's command line, a peer of its
 * client, is 270 MB with its packages.
 */
const forgetTools = "npm pkg delete devDependencies";

const commands: Readonly<Record<Installer, Commands>> = {
  npm: {
    install: "npm install",
    cleanInstall: "npm ci",
    run: "npm run",
    start: "npm start",
    test: "npm test",
    prune: `${forgetTools} && npm prune`,
  },
  pnpm: {
    install: "pnpm install",
    cleanInstall: "pnpm install --frozen-lockfile",
    run: "pnpm run",
    start: "pnpm start",
    test: "pnpm test",
    prune: `${forgetTools} && rm -rf node_modules && CI=true pnpm install --prod --no-frozen-lockfile`,
  },
  yarn: {
    install: "yarn install",
    // The form of Yarn 1, which later versions accept.
    cleanInstall: "yarn install --frozen-lockfile",
    run: "yarn run",
    start: "yarn start",
    test: "yarn test",
    prune: "yarn install --production --frozen-lockfile",
  },
  bun: {
    install: "bun install",
    cleanInstall: "bun install --frozen-lockfile",
    run: "bun run",
    start: "bun run start",
    test: "bun test",
    prune: "bun install --production",
  },
  deno: {
    install: "deno install",
    cleanInstall: "deno install --frozen",
    run: "deno task",
    start: "deno task start",
    test: "deno task test",
    prune: "deno install",
  },
};

export function commandsOf(installer: Installer): Commands {
  return commands[installer];
}

/**
 * The package manager that runs `npm create`, `pnpm create` or `yarn create`: each sets `npm_config_user_agent`, which
 * begins with its name (`pnpm/10.1.0 npm/? node/…`). Otherwise npm, which is part of Node.
 */
export function detectPackageManager(environment: Environment): PackageManager {
  const name = environment["npm_config_user_agent"]?.split("/", 1)[0];
  return packageManagers.find((known) => known === name) ?? "npm";
}
