/**
 * Fills values into a `.env.example`: the line of each name, commented out or not, becomes `NAME=value`.
 *
 * @throws TypeError when the example does not name a variable
 */
export function renderDotenv(example: string, values: Readonly<Record<string, string>>): string {
  let text = example;
  for (const [name, value] of Object.entries(values)) {
    const line = new RegExp(`^(?:# ?)?${name}=.*$`, "m");
    if (!line.test(text)) {
      throw new TypeError(`.env.example does not name ${name}`);
    }
    text = text.replace(line, () => `${name}=${value}`);
  }
  return text;
}
