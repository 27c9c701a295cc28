// Times steps in wasm: prints `explained unexplained` in steps a second of processor time, the median
// of rounds.
//
//   node crates/bench/steps.mjs target/wasm32-unknown-unknown/bench/leasehold_bench.wasm STEPS ROUNDS

import { readFileSync } from "node:fs";

const [path, steps, rounds] = process.argv.slice(2);
if (!rounds) {
  console.error("write: node crates/bench/steps.mjs PATH.wasm STEPS ROUNDS");
  process.exit(2);
}
const { instance } = await WebAssembly.instantiate(readFileSync(path), {});
const { bench_steps } = instance.exports;

function stepsASecond(explained) {
  const start = process.cpuUsage();
  const taken = bench_steps(Number(steps), explained);
  const { user, system } = process.cpuUsage(start);
  if (taken !== Number(steps)) throw new Error(`${taken} of ${steps} steps were taken`);
  return (taken * 1e6) / (user + system);
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// The first round warms up: V8 compiles again what runs often.
for (const explained of [1, 0]) stepsASecond(explained);
const told = [];
const silent = [];
for (let round = 0; round < Number(rounds); round += 1) {
  told.push(stepsASecond(1));
  silent.push(stepsASecond(0));
}
console.log(`${median(told).toFixed(0)} ${median(silent).toFixed(0)}`);
