// node generate.mjs DIR MODE Q COUNT
//
// Writes a database with the reference implementation and prints its summary as JSON. The
// contents follow the rule of the databases in testdata: the keys are the u32 0 to COUNT-1, the
// value of a key is the first 8 bytes of its BLAKE3 hash, then every 7th key is deleted. The
// entries are added to those of a database that is there already.

import fs from "node:fs"

import { blake3 } from "@noble/hashes/blake3"
import { Tree } from "@canvas-js/okra-lmdb"

import { mapSize, modes, summary } from "./summary.mjs"

function u32(i) {
  const key = new Uint8Array(4)
  new DataView(key.buffer).setUint32(0, i)
  return key
}

const [dir, mode, q, n] = process.argv.slice(2)
if (n === undefined || modes[mode] === undefined) {
  console.error("usage: node generate.mjs DIR store|index Q COUNT")
  process.exit(2)
}
fs.mkdirSync(dir, { recursive: true })
const tree = new Tree(dir, { K: 16, Q: Number(q), mode: modes[mode], mapSize })
await tree.write((txn) => {
  for (let i = 0; i < Number(n); i++) {
    txn.set(u32(i), blake3(u32(i)).subarray(0, 8))
  }
})
await tree.write((txn) => {
  for (let i = 0; i < Number(n); i += 7) {
    txn.delete(u32(i))
  }
})
console.log(JSON.stringify(await summary(tree)))
await tree.close()
