// Renders each decisive moment, wide and on a phone, light, dark and in shades of grey.
//
//   CHROMIUM=<path> node e2e/shots.mjs <served directory> <directory for the pictures> [part of a name]

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { contextOptions, launchOptions, sizes } from "./chromium.mjs";
import { moments } from "./moments.mjs";
import { serve } from "./server.mjs";

const LOOKS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  // What somebody who sees no hues gets, and a cheap projector.
  grey: { colorScheme: "light", deficiency: "achromatopsia" },
};
const SIZES = { wide: sizes.wide, phone: sizes.phone };

const [directory = "dist", pictures = "e2e/shots", only = ""] = process.argv.slice(2);
const wanted = moments.filter((moment) => moment.name.includes(only));
if (wanted.length === 0) {
  console.error(`no moment is called ${only}; there are: ${moments.map((m) => m.name).join(", ")}`);
  process.exit(1);
}

await mkdir(pictures, { recursive: true });
const site = await serve(directory);
const browser = await chromium.launch(launchOptions);
let failures = 0;
for (const moment of wanted) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const [look, { colorScheme, deficiency }] of Object.entries(LOOKS)) {
      const file = join(pictures, `${moment.name}.${size}.${look}.png`);
      const context = await browser.newContext({ ...contextOptions, viewport, colorScheme });
      try {
        await take(context, moment, deficiency, file);
        console.log(file);
      } catch (error) {
        failures += 1;
        console.error(`${file}: ${error.message}`);
      }
      await context.close();
    }
  }
}
await browser.close();
await site.close();
process.exit(failures === 0 ? 0 : 1);

async function take(context, moment, deficiency, file) {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  if (deficiency) {
    const devtools = await context.newCDPSession(page);
    await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: deficiency });
  }
  await page.goto(new URL(moment.path ?? "", site.url).href);
  await moment.show(page, { url: site.url });
  await page.screenshot({ path: file, fullPage: moment.fullPage ?? false });
}
