import { client } from "./client.js";

client.item.get(); // wrong
client.items0({ id: 1 }).get({ query: { versoin: 2 } }); // wrong
client.items0.post({ name: 1, price: 5, tags: [] }); // wrong
(await client.items0.get()).data?.[0]?.price.length; // wrong
