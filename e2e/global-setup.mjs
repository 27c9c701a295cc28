// Serves `dist` for the whole run on a free port, and tells the workers where by the environment.

import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { serve } from "./server.mjs";

export default async function setUp() {
  const dist = fileURLToPath(new URL("../dist", import.meta.url));
  await access(`${dist}/index.html`).catch(() => {
    throw new Error("dist/index.html is missing; build it first: trunk build --release");
  });
  const { url, close } = await serve(dist);
  process.env.LEASEHOLD_URL = url;
  return close;
}
