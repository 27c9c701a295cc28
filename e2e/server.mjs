// Serves one directory of files, as the plainest web host would.
//
// No caching, no compression, no fallback page: a file that is missing is missing. The same files are served
// under the root and under a path of their own (`UNDER_A_PATH`), because a course's site will not give the
// page a host to itself.
//
//   node e2e/server.mjs dist [port]

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const UNDER_A_PATH = "/some/course/";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Starts serving; port 0 asks for a free one. Returns the root's address, ending in a slash, and `close`. */
export async function serve(directory, port = 0) {
  const root = resolve(directory);
  const server = createServer((request, response) => {
    answer(root, request, response).catch(() => send(response, 500, "text/plain", "failed\n"));
  });
  await new Promise((started, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", started);
  });
  const close = () =>
    new Promise((closed) => {
      server.close(closed);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

async function answer(root, request, response) {
  let path = decodeURIComponent(new URL(request.url, "http://127.0.0.1").pathname);
  if (path.startsWith(UNDER_A_PATH)) path = path.slice(UNDER_A_PATH.length - 1);
  if (path.endsWith("/")) path += "index.html";
  const file = join(root, path);
  if (!file.startsWith(root + sep)) return send(response, 404, "text/plain", "not here\n");
  try {
    send(response, 200, TYPES[extname(file)] ?? "application/octet-stream", await readFile(file));
  } catch {
    send(response, 404, "text/plain", "not here\n");
  }
}

function send(response, status, type, body) {
  response.writeHead(status, {
    "Content-Type": type,
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "no-store",
  });
  response.end(body);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory = "dist", port = "0"] = process.argv.slice(2);
  const { url } = await serve(directory, Number(port));
  console.log(url);
}
