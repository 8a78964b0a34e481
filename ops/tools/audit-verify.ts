/**
 * Checks the chain of the audit log: `npm run ops -- audit-verify [--head N:HASH ...]`. It reads the environment of the
 * server and changes nothing; with the embedded database the server must be stopped. It names the first entry that was
 * altered, is missing or stands in another place, and then exits with 1. Give it heads that were noted elsewhere, such
 * as those of the log lines `audit_sealed`: without one, a chain that was made anew from its first entry looks whole.
 */
import { parseArgs } from 'node:util'
import { AuditChain, type ChainHead } from '../../db/audit-chain.ts'
import { onDatabase } from './on-database.ts'

const { values } = parseArgs({ options: { head: { type: 'string', multiple: true, default: [] } } })
const noted = values.head.map(readHead)
const { head, broken, unsealed } = await onDatabase((db) => new AuditChain(db).check(noted))
console.log(head === null ? 'no sealed entries' : `${head.n} entries hold; head ${head.n}:${head.hash}`)
if (unsealed !== null) {
  console.log(
    `${unsealed.entries} entries wait to be sealed, the oldest since ${new Date(unsealed.since).toISOString()}`,
  )
}
if (broken !== null) {
  console.error(`BROKEN: ${broken}`)
  process.exitCode = 1
}

function readHead(text: string): ChainHead {
  const [, n, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (n === undefined || hash === undefined)
    throw new Error(`--head takes a number and a hash, as 88:9f2c…, not ${text}`)
  return { n: Number(n), hash }
}
