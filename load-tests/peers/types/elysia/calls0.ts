import { client } from "./client.js";

export async function call() {
  const read = await client.items0({ id: 1 }).get({ query: { version: 2 } });
  const history = await client.items0({ id: 1 }).history.get({ query: { limit: 2 } });
  const added = await client.items0.post({ name: "spade", price: 5, tags: ["garden"] });
  const list = await client.items0.get();
  const names: (string | undefined)[] = [
    read.data?.name,
    history.data?.changes[0],
    added.data?.name,
    list.data?.[0]?.name,
  ];
  return names;
}
