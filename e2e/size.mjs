// Prints `raw gzip brotli path` for every file below a directory, separated by tabs; the largest first.
//
//   node e2e/size.mjs dist

import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = process.argv[2] ?? "dist";
const entries = await readdir(root, { recursive: true, withFileTypes: true });
const rows = [];
for (const entry of entries.filter((entry) => entry.isFile())) {
  const file = join(entry.parentPath ?? entry.path, entry.name);
  const bytes = await readFile(file);
  const brotli = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  const gzip = gzipSync(bytes, { level: 9 });
  const path = relative(root, file).split(sep).join("/");
  rows.push([bytes.length, gzip.length, brotli.length, path]);
}
rows.sort((a, b) => b[0] - a[0] || (a[3] < b[3] ? -1 : 1));
for (const row of rows) console.log(row.join("\t"));
