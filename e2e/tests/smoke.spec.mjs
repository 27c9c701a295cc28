// The page arrives at all: what is broken here is broken for everyone.

import { expect, test, UNDER_A_PATH } from "../fixtures.mjs";

test("the page says its language and its name, and the stage appears", async ({ page }) => {
  await page.goto("/");
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page).toHaveTitle(/Leasehold/);
  await expect(page.getByRole("main")).toBeVisible();
  await expect(page.locator(".stage")).toBeVisible();
});

test("the page works under a path of its own", async ({ page, baseURL }) => {
  await page.goto(UNDER_A_PATH);
  await expect(page.locator(".stage")).toBeVisible();
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType("resource").map((entry) => entry.name),
  );
  const under = new URL(UNDER_A_PATH, baseURL).href;
  expect(loaded.filter((address) => !address.startsWith(under))).toEqual([]);
});
