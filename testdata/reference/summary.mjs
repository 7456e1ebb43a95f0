// What one tree holds, in a form that another program can compare.

import { blake3 } from "@noble/hashes/blake3"

export const hex = (bytes) => Buffer.from(bytes).toString("hex")
export const unhex = (text) => new Uint8Array(Buffer.from(text, "hex"))

// The length of LMDB's map. The package's default of 10 MiB is too small for the large trees.
export const mapSize = 1024 * 1024 * 1024

// Modes as the header stores them.
export const modes = { index: 0, store: 1 }

export function modeName(mode) {
  return mode === modes.store ? "store" : "index"
}

// nodes yields [level, key in hex or null, hash in hex] in the order of (level, key).
export function* nodes(txn) {
  const root = txn.getRoot()
  for (let level = 0; level <= root.level; level++) {
    for (const node of txn.nodes(level)) {
      yield [node.level, node.key === null ? null : hex(node.key), hex(node.hash)]
    }
  }
}

// nodesDigest is the BLAKE3-256 of one line "level,key,hash" per node; an anchor's key is "-".
function nodesDigest(txn) {
  const digest = blake3.create({})
  let count = 0
  for (const [level, key, hash] of nodes(txn)) {
    digest.update(`${level},${key ?? "-"},${hash}\n`)
    count++
  }
  return { count, digest: hex(digest.digest()) }
}

// entriesDigest is the BLAKE3-256 of one line "key,hash,value" per entry, in key order.
// In index mode there is no value and the line is "key,hash".
function entriesDigest(txn, mode) {
  const digest = blake3.create({})
  let count = 0
  for (const node of txn.nodes(0, { key: null, inclusive: false })) {
    const value = mode === modes.store ? `,${hex(node.value)}` : ""
    digest.update(`${hex(node.key)},${hex(node.hash)}${value}\n`)
    count++
  }
  return { count, digest: hex(digest.digest()) }
}

// summary describes a tree: its format, root, nodes and entries.
export async function summary(tree) {
  const { K, Q, mode } = tree.metadata
  return await tree.read((txn) => {
    const root = txn.getRoot()
    const all = nodesDigest(txn)
    const entries = entriesDigest(txn, mode)
    return {
      Q,
      mode: modeName(mode),
      K,
      root: { level: root.level, hash: hex(root.hash) },
      nodes: all.count,
      digest: all.digest,
      entries: entries.count,
      entriesDigest: entries.digest,
    }
  })
}
