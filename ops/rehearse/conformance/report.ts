/** Summaries of runs: a line for the screen, Markdown for readers. */
import type { Exchange } from './notes.ts'
import type { Verdict } from './run.ts'
import { titles } from './specification.ts'
import { unchecked } from './unchecked.ts'

export interface Run {
  readonly deployment: string
  readonly verdicts: readonly Verdict[]
}

const MARK = { passed: 'pass', failed: 'FAIL', skipped: 'skip', inapplicable: 'n/a' } as const

const count = (verdicts: readonly Verdict[], outcome: Verdict['outcome']): number =>
  verdicts.filter((verdict) => verdict.outcome === outcome).length

export function counted(verdicts: readonly Verdict[]): string {
  const apart = count(verdicts, 'inapplicable')
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((outcome) =>
    count(verdicts, outcome),
  )
  return `${passed} passed, ${failed} failed, ${skipped} skipped${apart === 0 ? '' : `, ${apart} not applicable`}`
}

/** Contains no times or dates, so equal verdicts give equal reports. */
export function markdown(runs: readonly Run[]): string {
  const [first] = runs
  if (first === undefined) return ''
  const checks = first.verdicts
  const within = checks.filter(({ quote }) => quote !== '')
  const beyond = checks.filter(({ quote }) => quote === '')
  const changed = [...new Set(checks.flatMap(({ waits = {}, sets = [] }) => [...Object.keys(waits), ...sets]))]
  const reasons = runs.flatMap(({ deployment, verdicts }) =>
    verdicts
      .filter(({ reason }) => reason !== '')
      .map(({ id, outcome, reason }) => `- ${id}, ${deployment}, ${MARK[outcome]}: ${reason.split('\n')[0]}`),
  )
  return [
    '# Conformance',
    '',
    ...HEAD,
    ...runs.map(({ deployment, verdicts }) => `- ${deployment}: ${counted(verdicts)}`),
    '',
    `Settings changed in ${checks.filter(isChanged).length} of ${checks.length} checks, in none but to wait less or`,
    `to check that a setting can be set: ${changed.map((key) => `\`${key}\``).join(', ') || 'none'}. The column "changed" names`,
    'them. Every other check runs on the settings that the program ships with, and 4.5.5 makes sure of it.',
    '',
    ...tables(within, runs),
    '## Not checked',
    '',
    ...unchecked.map(({ words, why }) => `- "${words}": ${why}.`),
    '',
    '## 10 Beyond the specification',
    '',
    'What the specification leaves open, and what the game has besides.',
    '',
    ...tables(beyond, runs),
    ...(reasons.length === 0 ? [] : ['## Not passed', '', ...reasons, '']),
  ].join('\n')
}

const HEAD = [
  'Written by `npm run ops -- conformance --mode all --markdown docs/conformance.md`; `--slow` adds the checks that take',
  'minutes. Each row quotes the specification and says what was tried, with the answers that decided it. The quotes are',
  'compared with the text of the specification, and every sentence of it is quoted here or listed under "Not checked". The',
  'column "sent → answered" was noted by the clients as they asked, in the first deployment; with `--exchanges FILE` the',
  'same run writes down the bodies, too.',
  '',
  'The deployments are started by the suite with an identity provider, a mail server and match data of its own, which the',
  'program asks four times a second instead of every ten seconds (`PROVIDER_POLL_MS`), and it trusts one proxy',
  '(`TRUSTED_PROXIES`), so that every user comes from an address of their own.',
  '',
]

const isChanged = ({ waits, sets }: Verdict): boolean => waits !== undefined || sets !== undefined

/** A table for each section. */
function tables(checks: readonly Verdict[], runs: readonly Run[]): string[] {
  return [...Map.groupBy(checks, ({ section }) => section)].flatMap(([section, some]) => {
    const isQuoted = some.some(({ quote }) => quote !== '')
    const columns = [
      'check',
      ...(isQuoted ? ['the specification'] : []),
      'what was checked',
      'sent → answered',
      'changed',
    ]
    const heads = [...columns, ...runs.map(({ deployment }) => deployment)]
    return [
      `${section.includes('.') ? '###' : '##'} ${section} ${titles.get(section) ?? BEYOND[section] ?? ''}`.trim(),
      '',
      `| ${heads.join(' | ')} |`,
      `|${'---|'.repeat(heads.length)}`,
      ...some.map((check) => row(check, isQuoted, runs)),
      '',
    ]
  })
}

/** The sections beyond the specification. */
const BEYOND: Readonly<Record<string, string>> = {
  '10.1': 'Accounts',
  '10.2': 'Trading',
  '10.3': 'States of a match',
  '10.4': 'Requests',
  '10.5': 'WebSocket',
  '10.6': 'Boards, limits and administration',
  '10.7': 'Leagues',
}

function row(check: Verdict, isQuoted: boolean, runs: readonly Run[]): string {
  const { id, quote, claim, waits = {}, sets = [] } = check
  const changed = [
    ...Object.entries(waits).map(([key, value]) => `\`${key}\` = ${value}`),
    ...sets.map((key) => `sets \`${key}\``),
  ]
  const marks = runs.map(({ verdicts }) => {
    const verdict = verdicts.find((one) => one.id === id)
    return verdict === undefined ? '' : MARK[verdict.outcome]
  })
  const cells = [id, ...(isQuoted ? [`"${quote}"`] : []), claim, sentIn(check.exchanges), changed.join(', '), ...marks]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const EXCHANGES_MAX = 8

/** The requests of a check, and with which status each was answered, without names and ids. */
function sentIn(exchanges: readonly Exchange[]): string {
  const lines = exchanges.map(({ sent, answered }) => {
    const [method = '', path = ''] = sent.split(' ')
    const [status = ''] = answered.split(' ')
    return method === 'WebSocket' ? method : `${method} ${nameless(path)} → ${status}`
  })
  const some = [...new Set(lines)]
  const rest = some.length > EXCHANGES_MAX ? [`${some.length - EXCHANGES_MAX} more`] : []
  return [...some.slice(0, EXCHANGES_MAX), ...rest].join('<br>')
}

/** A path with dots for ids, and for values that are made up for a run. */
const nameless = (path: string): string =>
  path
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/\/(\d{4,}|\d+(?=\/read)|conformance_\w+)/g, '/…')
    .replace(/=[^&]*\d[^&]{3,}/g, '=…')
    .slice(0, 80)
