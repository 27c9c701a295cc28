// The wasm side of the comparison: prints what `equality native` prints.
//
//   node crates/equality/run.mjs target/wasm32-unknown-unknown/release/equality.wasm [--full]

import { readFileSync, writeSync } from "node:fs";

const [path, option] = process.argv.slice(2);
if (!path || (option && option !== "--full")) {
  console.error("write: node crates/equality/run.mjs PATH.wasm [--full]");
  process.exit(2);
}

const module = await WebAssembly.compile(readFileSync(path));
const wanted = WebAssembly.Module.imports(module);
if (wanted.length > 0) {
  const names = wanted.map((entry) => `${entry.module}.${entry.name}`).join(", ");
  console.error(`the module asks for ${names}; a pure engine asks for nothing`);
  process.exit(1);
}
const { exports } = await WebAssembly.instantiate(module, {});

/** Writes everything, also to a pipe that takes only a part at a time. */
function write(bytes) {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const parts = exports.equality_parts();
for (let part = 0; part <= parts; part += 1) {
  const length = exports.equality_run(part, option ? 1 : 0);
  write(new Uint8Array(exports.memory.buffer, exports.equality_text(), length));
}
