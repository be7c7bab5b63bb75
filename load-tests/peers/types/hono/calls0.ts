import { client } from "./client.js";

export async function call() {
  const read = await client.items0[":id"].$get({ param: { id: "1" }, query: { version: "2" } });
  const history = await client.items0[":id"].history.$get({ param: { id: "1" }, query: { limit: "2" } });
  const added = await client.items0.$post({ json: { name: "spade", price: 5, tags: ["garden"] } });
  const list = await client.items0.$get();
  const names: (string | undefined)[] = [(await list.json())[0]?.name];
  if (read.ok) names.push((await read.json()).name);
  if (history.ok) names.push((await history.json()).changes[0]);
  if (added.ok) names.push((await added.json()).name);
  return names;
}
