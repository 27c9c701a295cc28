// How Chromium is started, for tests and pictures alike: nothing on the network but our own page.

export const launchOptions = {
  // Unset: Playwright's own. `cargo xtask` sets it to the browser that it found or installed.
  executablePath: process.env.CHROMIUM || undefined,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};

/** The same words, times and pixels on every machine. */
export const contextOptions = {
  locale: "en-GB",
  timezoneId: "UTC",
  deviceScaleFactor: 1,
};

/** The sizes that every view has to hold: a projector, a tablet, the smallest phone. */
export const sizes = {
  wide: { width: 1440, height: 900 },
  middle: { width: 820, height: 1180 },
  phone: { width: 360, height: 740 },
};
