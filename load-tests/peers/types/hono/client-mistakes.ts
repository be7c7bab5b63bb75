import { client } from "./client.js";

client.item.$get(); // wrong
client.items0[":id"].$get({ param: { id: "1" }, query: { versoin: "2" } }); // wrong
client.items0.$post({ json: { name: 1, price: 5, tags: [] } }); // wrong
(await (await client.items0.$get()).json())[0]?.price.length; // wrong
