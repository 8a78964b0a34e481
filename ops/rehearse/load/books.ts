/** Checks the books of a server after a run: its own audit if an admin may ask for it, and every user's account. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { Account, Violation } from '../rig/account.ts'
import { Audit, Changes, type EventSeen, Wallet } from '../rig/simulated-client.ts'
import type { Rest } from './rest.ts'

export interface Books {
  /** Null if the run had no admin to ask, or no answer. */
  readonly balanced: boolean | null
  /** The number of users whose account log adds up to their wallet, and those whose log does not. */
  readonly whole: number
  readonly violations: readonly string[]
}

const Me = z.looseObject({ wallet: Wallet })
/** Accounts read at the same time. */
const READING = 16
/** A system close between two reads of one account makes them disagree; then both are repeated. */
const LOOKS_MAX = 5

export async function auditBooks(rest: Rest, tokens: readonly string[], adminToken: string): Promise<Books> {
  let whole = 0
  const violations: string[] = []
  const queue = tokens.values()
  const reader = async (): Promise<void> => {
    for (const token of queue) {
      const violation = await auditAccount(rest, token)
      if (violation === null) whole++
      else violations.push(violation)
    }
  }
  await Promise.all(Array.from({ length: READING }, reader))
  return { balanced: await auditLedger(rest, adminToken), whole, violations }
}

/** Null if the server does not accept the auditor as an admin, or does not answer: the accounts say the latter. */
async function auditLedger(rest: Rest, token: string): Promise<boolean | null> {
  const audit = read(rest, token, '/api/admin/ledger/audit')
  return audit.then(
    (body) => Audit.parse(body).balanced,
    () => null,
  )
}

/** Gives an account all of its events, and returns them. Throws a Violation if they do not begin with the first. */
export async function readEvents(rest: Rest, token: string, account: Account): Promise<readonly EventSeen[]> {
  const events: EventSeen[] = []
  for (let more = true; more;) {
    const changes = Changes.parse(await read(rest, token, `/api/account/changes?since=${account.marker}`))
    if (changes.snapshot) throw new Violation(`the log does not reach back to event ${account.marker}`)
    for (const event of changes.events) account.apply(event)
    events.push(...changes.events)
    more = changes.more
  }
  return events
}

/** What is wrong with an account, or why it could not be read; null if it adds up. */
async function auditAccount(rest: Rest, token: string): Promise<string | null> {
  for (let looks = 1; ; looks++) {
    const account = new Account()
    try {
      await readEvents(rest, token, account)
      const { wallet } = Me.parse(await read(rest, token, '/api/me'))
      const { balance, marginUsed } = account.holding('main')
      if (wallet.balance === balance && wallet.marginUsed === marginUsed) return null
      if (looks === LOOKS_MAX) return `events add up to ${balance}, the wallet says ${wallet.balance}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    await pause(200)
  }
}

/** The answer to a GET, which must be 200. */
export async function read(rest: Rest, token: string, path: string): Promise<unknown> {
  const { status, body } = await rest.ask({ method: 'GET', path, token })
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`)
  return body
}
