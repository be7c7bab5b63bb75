export { default } from "create-tsgi/dist/bundle/yo.js";
