// Times steps and a search in wasm: prints `explained unexplained states bytes`, the first three a second
// of processor time, the median of rounds; the last is the search's bytes a state.
//
//   node crates/bench/wasm.mjs target/wasm32-unknown-unknown/release/leasehold_bench.wasm STEPS STATES ROUNDS

import { readFileSync } from "node:fs";

const [path, steps, states, rounds] = process.argv.slice(2);
if (!rounds) {
  console.error("write: node crates/bench/wasm.mjs PATH.wasm STEPS STATES ROUNDS");
  process.exit(2);
}
const { instance } = await WebAssembly.instantiate(readFileSync(path), {});
const { bench_steps, bench_search, bench_search_bytes } = instance.exports;

/** What `work` counts, a second of processor time. */
function aSecond(work) {
  const start = process.cpuUsage();
  const count = work();
  const { user, system } = process.cpuUsage(start);
  return (count * 1e6) / (user + system);
}

function take(explained) {
  const taken = bench_steps(Number(steps), explained);
  if (taken !== Number(steps)) throw new Error(`${taken} of ${steps} steps were taken`);
  return taken;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

let found = 0;
const works = [() => take(1), () => take(0), () => (found = bench_search(Number(states)))];
// The first round warms up: V8 compiles again what runs often.
works.forEach(aSecond);
const rates = works.map(() => []);
for (let round = 0; round < Number(rounds); round += 1) {
  works.forEach((work, at) => rates[at].push(aSecond(work)));
}
const bytes = Number(bench_search_bytes()) / found;
console.log([...rates.map((values) => median(values).toFixed(0)), bytes.toFixed(1)].join(" "));
