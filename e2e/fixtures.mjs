// What every browser test starts from: the page's address, and an ear for what the page complains about.
//
// A test fails upon any error on the console, any uncaught error and any request that fails, even if all that
// it asserts is true: a page that works while it complains will stop working. A test that provokes an error
// names it:
//
//   test.use({ allowedErrors: [/the run so far is kept/] });

import { test as base, expect } from "@playwright/test";
import AxeBuilder from "@axe-core/playwright";

export { expect };
export { sizes } from "./chromium.mjs";
export { UNDER_A_PATH } from "./server.mjs";

export const test = base.extend({
  allowedErrors: [[], { option: true }],

  baseURL: async ({}, use) => {
    await use(process.env.LEASEHOLD_URL);
  },

  heardErrors: [
    async ({ context, allowedErrors }, use) => {
      const heard = [];
      const hear = (kind, text) => {
        if (!allowedErrors.some((allowed) => allowed.test(text))) heard.push(`${kind}: ${text}`);
      };
      context.on("console", (message) => {
        // The address says which file was missing; the text alone does not.
        if (message.type() === "error") hear("console", `${message.text()} ${message.location().url}`);
      });
      context.on("weberror", (error) => {
        const thrown = error.error();
        hear("uncaught", thrown?.stack ?? String(thrown));
      });
      context.on("requestfailed", (request) => {
        // A navigation away cancels what is still loading; that is no fault of the page.
        const reason = request.failure()?.errorText ?? "";
        if (reason !== "net::ERR_ABORTED") hear("request", `${reason} ${request.url()}`);
      });
      await use(heard);
      expect(heard, "the page complained").toEqual([]);
    },
    { auto: true },
  ],
});

/** Fails with what axe finds in the page as it stands, one line a finding. `include` narrows it to a part. */
export async function expectAccessible(page, include) {
  const axe = new AxeBuilder({ page });
  if (include) axe.include(include);
  const { violations } = await axe.analyze();
  const findings = violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")}`),
  );
  expect(findings, "axe finds nothing").toEqual([]);
}

/** Fails if the page can be scrolled sideways. */
export async function expectNoSidewaysScroll(page) {
  const { inner, content } = await page.evaluate(() => ({
    inner: document.documentElement.clientWidth,
    content: document.documentElement.scrollWidth,
  }));
  expect(content, "the content is no wider than the window").toBeLessThanOrEqual(inner);
}
