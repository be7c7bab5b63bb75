/** A document as the types that openapi-fetch is made for: `paths`, `components`, `operations`. @module */
import { block, member, schemaText } from "./schema-text.js";
import type {
  MediaTypeObject,
  OpenAPIDocument,
  OperationObject,
  ParameterObject,
  PathItemObject,
  RequestBodyObject,
  ResponseObject,
} from "tsgi/openapi";

const PLACES = ["query", "header", "path", "cookie"] as const;
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"] as const;

/** `never` under an optional name, because the property cannot exist. */
const nothing = (name: string) => member(name, "never", { isRequired: false });

function parametersText(parameters: readonly ParameterObject[]): string {
  return block(
    PLACES.map((place) => {
      const here = parameters.filter((parameter) => parameter.in === place);
      if (here.length === 0) return nothing(place);
      const members = here.map(({ name, schema, required = false, description = "" }) =>
        member(name, schemaText(schema), { isRequired: required, description }),
      );
      return member(place, block(members), { isRequired: here.some(({ required }) => required) });
    }),
  );
}

function contentText(content: Readonly<Record<string, MediaTypeObject>>): string {
  return block(
    Object.entries(content).map(([type, { schema, itemSchema, "x-itemSchema": lineSchema }]) =>
      member(type, schemaText(itemSchema ?? lineSchema ?? schema ?? {})),
    ),
  );
}

function bodyText({ content, required = false, description = "" }: RequestBodyObject): string {
  const body = block([member("content", contentText(content))]);
  return member("requestBody", body, { isRequired: required, description });
}

function responseText(status: string, { description, headers = {}, content }: ResponseObject): string {
  const named = Object.entries(headers).map(([name, header]) =>
    member(name, schemaText(header.schema), { isRequired: false, description: header.description ?? "" }),
  );
  const members = [
    member("headers", block([...named, "[name: string]: unknown;"])),
    content === undefined ? nothing("content") : member("content", contentText(content)),
  ];
  const name = /^[1-9]\d\d$/.test(status) ? status : JSON.stringify(status);
  return `/** ${description.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ")} */\n${name}: ${block(members)};`;
}

function operationText({ parameters = [], requestBody, responses }: OperationObject): string {
  return block([
    member("parameters", parametersText(parameters)),
    requestBody === undefined ? nothing("requestBody") : bodyText(requestBody),
    member("responses", block(Object.entries(responses).map(([status, response]) => responseText(status, response)))),
  ]);
}

function pathText(item: PathItemObject): string {
  const methods = METHODS.map((method) => {
    const operation = item[method];
    if (operation === undefined) return nothing(method);
    const description = [operation.summary, operation.description].filter(Boolean).join("\n");
    const note = operation.deprecated ? `${description}\n@deprecated` : description;
    return member(method, `operations[${JSON.stringify(operation.operationId)}]`, { description: note });
  });
  return block([member("parameters", parametersText([])), ...methods]);
}

/** The types of a document. */
export function clientTypes({ paths, webhooks = {}, components }: OpenAPIDocument): string {
  const schemas = Object.entries(components?.schemas ?? {}).map(([name, schema]) =>
    member(name, schemaText(schema), { description: schema.description ?? "" }),
  );
  const items = [...Object.values(paths), ...Object.values(webhooks)];
  const operations = items.flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
  const parts: [string, string[]][] = [
    ["paths", Object.entries(paths).map(([path, item]) => member(path, pathText(item)))],
    ["webhooks", Object.entries(webhooks).map(([name, item]) => member(name, pathText(item)))],
    ["components", [schemas.length > 0 ? member("schemas", block(schemas)) : member("schemas", "never")]],
    ["operations", operations.map((operation) => member(operation.operationId, operationText(operation)))],
  ];
  return `${parts.map(([name, members]) => `export interface ${name} ${block(members)}`).join("\n\n")}\n`;
}
