/** `tsgi completion`: scripts that complete commands, flags, words and files in a shell. @module */
import type { Command } from "commander";
import { explanations } from "./errors-page.js";
import type { Terminal } from "./terminal.js";

export function showCompletion(program: Command, shell: string, terminal: Terminal): void {
  const write = shell === "bash" ? toBash : shell === "zsh" ? toZsh : toFish;
  terminal.print(write(program.commands.map(describe)));
}

type Completed = ReturnType<typeof describe>;

/** One command with its flags, and the values of its argument, empty for a file. */
function describe(command: Command) {
  const codes = command.name() === "explain" ? [...explanations().keys()] : [];
  const words = command.registeredArguments[0]?.argChoices ?? codes;
  const flags = command.options.map(({ long, description }) => ({ long: long ?? "", description }));
  return { name: command.name(), description: command.description(), flags, words };
}

function toBash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, flags, words }) =>
      `    ${name}) flags="${[...flags.map(({ long }) => long), "--help"].join(" ")}" words="${words.join(" ")}" ;;`,
  );
  return `# eval "$(tsgi completion bash)"
_tsgi() {
  local current="\${COMP_WORDS[COMP_CWORD]}" flags="" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *)
      if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
      else COMPREPLY=($(compgen -f -- "$current")); fi
      ;;
  esac
}
complete -o filenames -F _tsgi tsgi
`;
}

function toZsh(commands: readonly Completed[]): string {
  const names = commands.map(({ name, description }) => `    ${quote(`${name}:${description}`)}`);
  const cases = commands.map(({ name, flags, words }) => {
    const specs = flags.map(({ long, description }) => quote(`${long}[${description.replaceAll(/[[\]:]/g, " ")}]`));
    const argument = words.length === 0 ? "'*:file:_files'" : `'*:word:(${words.join(" ")})'`;
    return `    ${name}) _arguments ${[...specs, argument].join(" ")} ;;`;
  });
  return `#compdef tsgi
# eval "$(tsgi completion zsh)"
_tsgi() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
}
compdef _tsgi tsgi
`;
}

function toFish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, description, flags, words }) => [
    `complete -c tsgi -n __fish_use_subcommand -f -a ${name} -d ${quote(description)}`,
    ...flags.map(
      (flag) =>
        `complete -c tsgi -n "__fish_seen_subcommand_from ${name}" -l ${flag.long.slice(2)} -d ${quote(flag.description)}`,
    ),
    ...(words.length === 0
      ? []
      : [`complete -c tsgi -n "__fish_seen_subcommand_from ${name}" -f -a ${quote(words.join(" "))}`]),
  ]);
  return `# tsgi completion fish | source\n${lines.join("\n")}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
