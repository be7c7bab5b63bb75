import { flags, type Flag } from "./options.js";

function usage({ name, short, value }: Flag): string {
  return `${short ? `-${short}, ` : "    "}--${name}${value ? ` <${value}>` : ""}`;
}

/** The text of `--help`. */
export function helpText(): string {
  const width = Math.max(...flags.map((flag) => usage(flag).length));
  const lines = flags.map((flag) => `  ${usage(flag).padEnd(width)}  ${flag.help}`);
  return `Usage: create-tsgi [name] [flags]

Writes a new tsgi project into the folder ./<name>, installs it, and says what to do next. What no flag says is
asked at a terminal; elsewhere the defaults are taken and shown. The name is an npm name; of @scope/name the folder
is the part behind the slash.

  npm create tsgi my-app
  npm create tsgi my-app -- --yes        flags stand after the "--"
  create-tsgi my-app --into ~/projects   writes ~/projects/my-app

Flags:
${lines.join("\n")}

Exit status: 0 the project is there and whole, 1 it failed, 2 the command line is wrong, 130 cancelled.
`;
}
