/** One line of Prometheus' text format, version 0.0.4. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads a text in the format strictly: any other line is an error. */
export function parseExposition(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    if (line === "" || /^# (HELP|TYPE) \S+ /.test(line)) return [];
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`Not a line of the format: ${line}`);
    const pairs = [...labels.matchAll(LABEL)].map(([, key = "", content = ""]) => [key, content] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: value === "+Inf" ? Infinity : Number(value) }];
  });
}
