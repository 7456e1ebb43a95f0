// node dump.mjs DIR
//
// Opens the database in DIR with the reference implementation and prints its summary as JSON.
// The parameters are those of the header. The reference opens for writing: give it a copy.

import { Tree } from "@canvas-js/okra-lmdb"
import * as lmdb from "@canvas-js/okra-lmdb/lmdb"

import { mapSize, summary } from "./summary.mjs"

// header reads K, Q and the mode from the record under key ff.
function header(dir) {
  const env = new lmdb.Environment(dir, { mapSize })
  const txn = new lmdb.Transaction(env, true, null)
  const value = new lmdb.Database(txn, null).get(new Uint8Array([0xff]))
  txn.abort()
  env.close()
  if (value === null || value.byteLength !== 11) {
    throw new Error(`${dir}: no header of 11 bytes`)
  }
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
  return { K: value[5], Q: view.getUint32(6), mode: value[10] }
}

const [dir] = process.argv.slice(2)
if (dir === undefined) {
  console.error("usage: node dump.mjs DIR")
  process.exit(2)
}
const tree = new Tree(dir, { ...header(dir), mapSize })
console.log(JSON.stringify(await summary(tree)))
await tree.close()
