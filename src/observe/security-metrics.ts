/** Metrics of what the audit log records: sign-ins, and entries that alerts look for. */
import { Counter } from 'prom-client'
import { MICROS_PER_UNIT } from '../../actors/kernel/micros.ts'
import { fieldsOf, integer } from '../../actors/kernel/read.ts'
import type { SealedEntry } from '../../db/audit-chain.ts'
import type { SignInFailure } from '../auth/security-events.ts'

/** How sign-ins end. */
const SIGN_INS: Readonly<Record<'ok' | SignInFailure, true>> = {
  ok: true,
  INVALID_IDENTITY_TOKEN: true,
  NONCE_ALREADY_USED: true,
  INVALID_REGISTRATION_TICKET: true,
  INVALID_CODE: true,
  CODE_EXPIRED: true,
  TOO_MANY_ATTEMPTS: true,
  EMAIL_NOT_VERIFIED: true,
}

/** Counted in addition to `wallet.adopt`: what adds more than `trading.adoption_alert`. */
const LARGE_ADOPTION = 'wallet.adopt_large'

/** What alerts count. A series that begins with its first event would not show an increase, so these begin at zero. */
const WATCHED = [
  'refusals.burst',
  'registrations.crowd',
  'session.reuse',
  'user.promote',
  'user.demote',
  'match.void',
  'wallet.adopt',
  LARGE_ADOPTION,
  'wallet.adopt_freeze',
  'wallet.restored',
  'integrity.alert',
]

/** The balances changed from outside that added more than this to a wallet, in units. */
export const largeAdoptions = (entries: readonly SealedEntry[], above: number): readonly SealedEntry[] =>
  entries.filter(({ action, outcome, after }) => {
    if (action !== 'wallet.adopt' || outcome !== 'ok') return false
    const field = fieldsOf(JSON.parse(after ?? '{}'), action)
    return field('byMicros', integer) > above * MICROS_PER_UNIT
  })

/** An entry's action; what alerts tell apart by the new value has a name of its own. */
function countedAs({ action, after }: SealedEntry): string {
  if (action === 'user.role') return plain(after) === 'admin' ? 'user.promote' : 'user.demote'
  const isEnd = action === 'match.end' || action === 'replay.stop'
  return isEnd && plain(after) === 'void' ? 'match.void' : action
}

/** The new value, also where a reason is kept beside it; of a stopped replay, how it ends. */
function plain(after: string | null): unknown {
  const value: unknown = JSON.parse(after ?? 'null')
  if (typeof value !== 'object' || value === null) return value
  return 'ending' in value ? value.ending : 'value' in value ? value.value : value
}

export function securityMetrics() {
  const signIns = new Counter({
    name: 'touchline_sign_ins_total',
    help: 'Sign-ins by outcome: `ok`, or why they failed.',
    labelNames: ['outcome'],
    registers: [],
  })
  for (const outcome of Object.keys(SIGN_INS)) signIns.inc({ outcome }, 0)
  const entries = new Counter({
    name: 'touchline_audit_entries_total',
    help: 'Entries of the audit log, each counted once in the whole installation when it is sealed.',
    labelNames: ['action', 'outcome'],
    registers: [],
  })
  for (const action of WATCHED) entries.inc({ action, outcome: 'ok' }, 0)
  entries.inc({ action: 'wallet.adopt', outcome: 'ADOPTION_TOO_LARGE' }, 0)
  return {
    metrics: [signIns, entries],
    signIn: (outcome: 'ok' | SignInFailure) => signIns.inc({ outcome }),
    audited: (sealed: readonly SealedEntry[], large: number) => {
      entries.inc({ action: LARGE_ADOPTION, outcome: 'ok' }, large)
      for (const entry of sealed) entries.inc({ action: countedAs(entry), outcome: entry.outcome })
    },
  }
}
