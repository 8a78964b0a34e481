/** How a run is shown: a table on the screen, JUnit for machines, Markdown for readers. */
import type { Verdict } from './run.ts'

export interface Run {
  readonly deployment: string
  readonly verdicts: readonly Verdict[]
}

const MARK = { passed: 'pass', failed: 'FAIL', skipped: 'skip' } as const

export function line({ check, outcome, reason, ms }: Verdict): string {
  const columns = [check.id.padEnd(9), `§${check.section}`.padEnd(6), MARK[outcome], `${ms} ms`.padStart(9)]
  return `${columns.join('  ')}  ${check.sentence}${reason === '' ? '' : `\n${reason.replace(/^/gm, ' '.repeat(36))}`}`
}

export function table({ deployment, verdicts }: Run): string {
  return [`\n${deployment}\n`, ...verdicts.map(line), `\n${counted(verdicts)}\n`].join('\n')
}

const count = (verdicts: readonly Verdict[], outcome: Verdict['outcome']): number =>
  verdicts.filter((verdict) => verdict.outcome === outcome).length

export const counted = (verdicts: readonly Verdict[]): string =>
  `${count(verdicts, 'passed')} passed, ${count(verdicts, 'failed')} failed, ${count(verdicts, 'skipped')} skipped`

/** One suite per section, times in seconds. */
export function junit({ deployment, verdicts }: Run): string {
  const suites = [...Map.groupBy(verdicts, ({ check }) => check.section)].map(([section, some]) => {
    const cases = some.map(({ check, outcome, reason, ms }) => {
      const verdict =
        outcome === 'passed' ? '' : outcome === 'skipped' ? element('skipped', reason) : element('failure', reason)
      const name = xml(`${check.id} ${check.sentence}`)
      return `    <testcase classname="conformance.${section}" name="${name}" time="${ms / 1_000}">${verdict}</testcase>\n`
    })
    const counts = `tests="${some.length}" failures="${count(some, 'failed')}" skipped="${count(some, 'skipped')}"`
    return `  <testsuite name="section ${section}" ${counts}>\n${cases.join('')}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(deployment)}">\n${suites.join('')}</testsuites>\n`
}

const element = (name: string, message: string): string => `<${name} message="${xml(message)}"/>`

const xml = (text: string): string =>
  text
    // What XML cannot hold at all.
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')

/** The same in every run with the same verdicts: neither times nor dates. */
export function markdown(runs: readonly Run[]): string {
  const [first] = runs
  if (first === undefined) return ''
  const rows = first.verdicts.map(({ check }, n) => {
    const marks = runs
      .map(({ verdicts }) => verdicts[n])
      .map((verdict) => (verdict === undefined ? '' : MARK[verdict.outcome]))
    return `| ${check.id} | ${check.section} | ${check.sentence.replaceAll('|', '\\|')} | ${marks.join(' | ')} |`
  })
  const reasons = runs.flatMap(({ deployment, verdicts }) =>
    verdicts
      .filter(({ reason }) => reason !== '')
      .map(({ check, outcome, reason }) => `- ${check.id}, ${deployment}, ${MARK[outcome]}: ${reason.split('\n')[0]}`),
  )
  return [
    '# Conformance',
    '',
    'Written by `npm run ops -- conformance --mode all --markdown docs/conformance.md`: what the specification says, section by',
    'section, asked of a deployment from outside. Where a sentence names the contract, the specification leaves it open and the',
    'game decided it, under that number; both stand here in full, as sentences that are checked.',
    '',
    ...runs.map(({ deployment, verdicts }) => `- ${deployment}: ${counted(verdicts)}`),
    '',
    `| check | section | sentence | ${runs.map(({ deployment }) => deployment).join(' | ')} |`,
    `|---|---|---|${runs.map(() => '---|').join('')}`,
    ...rows,
    '',
    ...(reasons.length === 0 ? [] : ['Not passed:', '', ...reasons, '']),
  ].join('\n')
}
