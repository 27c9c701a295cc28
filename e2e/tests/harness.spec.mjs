// The harness itself: a fixture that hears nothing would pass everything. Where a test is marked as failing,
// its failing is what is wanted (and the list marks it with a cross).

import { expect, test } from "../fixtures.mjs";

test("an error on the console fails a test", async ({ page }) => {
  test.fail();
  await page.goto("/");
  await page.evaluate(() => console.error("a complaint"));
});

test("an uncaught error fails a test", async ({ page }) => {
  test.fail();
  await page.goto("/");
  const thrown = page.waitForEvent("pageerror");
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("nobody catches this");
    });
  });
  await thrown;
});

test("a missing file fails a test", async ({ page }) => {
  test.fail();
  await page.goto("/");
  await page.evaluate(() => fetch("not-here.md"));
});

test.describe("when it is allowed", () => {
  test.use({ allowedErrors: [/a complaint/] });

  test("an error on the console fails nothing", async ({ page }) => {
    await page.goto("/");
    await page.evaluate(() => console.error("a complaint"));
    await expect(page.locator("html")).toHaveAttribute("lang", "en");
  });
});
