// node apply.mjs DIR MODE K Q < OPS
//
// Applies operations to the database in DIR with the reference implementation, in one
// transaction, and prints the summary as JSON. OPS is a JSON array of ["set", key, value] and
// ["delete", key] in hex, as in small.json. DIR is created if it is not there.

import fs from "node:fs"

import { Tree } from "@canvas-js/okra-lmdb"

import { mapSize, modes, summary, unhex } from "./summary.mjs"

const [dir, mode, k, q] = process.argv.slice(2)
if (q === undefined || modes[mode] === undefined) {
  console.error("usage: node apply.mjs DIR store|index K Q < OPS")
  process.exit(2)
}
const ops = JSON.parse(fs.readFileSync(0, "utf8"))
fs.mkdirSync(dir, { recursive: true })
const tree = new Tree(dir, { K: Number(k), Q: Number(q), mode: modes[mode], mapSize })
await tree.write((txn) => {
  for (const [op, key, value] of ops) {
    if (op === "set") {
      txn.set(unhex(key), unhex(value))
    } else if (op === "delete") {
      txn.delete(unhex(key))
    } else {
      throw new Error(`unknown operation ${op}`)
    }
  }
})
console.log(JSON.stringify(await summary(tree)))
await tree.close()
