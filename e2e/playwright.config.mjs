// The browser tests: the release build in `dist`, in a real Chromium. `cargo xtask test` runs them;
// `CHROMIUM=<path> npx playwright test` in this directory does the same by hand.

import { defineConfig } from "@playwright/test";
import { contextOptions, launchOptions, sizes } from "./chromium.mjs";

export default defineConfig({
  testDir: "tests",
  testMatch: "*.spec.mjs",
  outputDir: "test-results",
  globalSetup: "./global-setup.mjs",
  // A test that passes only when tried again has found something.
  retries: 0,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [["list"]],
  use: {
    ...contextOptions,
    browserName: "chromium",
    headless: true,
    launchOptions,
    viewport: sizes.wide,
    colorScheme: "light",
    screenshot: "only-on-failure",
  },
});
