// node vectors.mjs TESTDATA
//
// Makes every case of small.json and large.json again with the reference implementation, in
// memory, and compares. Prints what was checked as JSON; exits 1 when something differs.
//
// One difference is expected: the reference leaves the anchor of level 1 behind when a tree is
// emptied by deletes, where this project's root is that of a tree which never held anything.

import fs from "node:fs"
import path from "node:path"

import { blake3 } from "@noble/hashes/blake3"
import { Tree } from "@canvas-js/okra-memory"

import { hex, modes, nodes, summary, unhex } from "./summary.mjs"

const emptied = "set then delete everything"

function u32(i) {
  const key = new Uint8Array(4)
  new DataView(key.buffer).setUint32(0, i)
  return key
}

const valueRules = {
  "first 8 bytes of blake3(key)": (key) => blake3(key).subarray(0, 8),
  "4 bytes 0xff": () => new Uint8Array([0xff, 0xff, 0xff, 0xff]),
}

async function smallCase(c) {
  const tree = new Tree({ K: c.K, Q: c.Q, mode: modes[c.mode] })
  await tree.write((txn) => {
    for (const [op, key, value] of c.ops) {
      if (op === "set") {
        txn.set(unhex(key), unhex(value))
      } else {
        txn.delete(unhex(key))
      }
    }
  })
  return await tree.read((txn) => {
    const root = txn.getRoot()
    const got = { level: root.level, hash: hex(root.hash), nodes: [...nodes(txn)] }
    const want = { ...c.root, nodes: c.nodes }
    return JSON.stringify(got) === JSON.stringify(want)
  })
}

async function largeCase(c) {
  const value = valueRules[c.value]
  async function* entries() {
    for (let i = 0; i < c.count; i++) {
      yield [u32(i), value(u32(i))]
    }
  }
  const tree = await Tree.fromEntries({ K: c.K, Q: c.Q, mode: modes[c.mode] }, entries())
  const got = await summary(tree)
  return (
    got.root.level === c.root.level &&
    got.root.hash === c.root.hash &&
    got.nodes === c.nodes &&
    got.digest === c.digest
  )
}

const [testdata] = process.argv.slice(2)
if (testdata === undefined) {
  console.error("usage: node vectors.mjs TESTDATA")
  process.exit(2)
}
const load = (name) => JSON.parse(fs.readFileSync(path.join(testdata, name), "utf8"))
const different = []
const small = load("small.json")
for (const c of small) {
  if (!(await smallCase(c))) {
    different.push(c.name)
  }
}
const large = load("large.json")
for (const c of large) {
  if (!(await largeCase(c))) {
    different.push(`${c.count} entries, Q=${c.Q}`)
  }
}
console.log(JSON.stringify({ small: small.length, large: large.length, different }))
process.exit(different.every((name) => name === emptied) ? 0 : 1)
