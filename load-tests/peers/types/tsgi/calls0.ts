import { client } from "./client.js";

export async function call() {
  const read = await client.GET("/items0/{id}", { params: { path: { id: 1 }, query: { version: 2 } } });
  const history = await client.GET("/items0/{id}/history", { params: { path: { id: 1 }, query: { limit: 2 } } });
  const added = await client.POST("/items0", { body: { name: "spade", price: 5, tags: ["garden"] } });
  const list = await client.GET("/items0");
  const names: (string | undefined)[] = [
    read.data?.name,
    history.data?.changes[0],
    added.data?.name,
    list.data?.[0]?.name,
  ];
  return names;
}
