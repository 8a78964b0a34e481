/** Summaries of runs: a line for the screen, Markdown for readers. */
import type { Verdict } from './run.ts'

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
  const rows = first.verdicts.map(({ id, section, sentence }) => {
    const marks = runs
      .map(({ verdicts }) => verdicts.find((verdict) => verdict.id === id))
      .map((verdict) => (verdict === undefined ? '' : MARK[verdict.outcome]))
    return `| ${id} | ${section} | ${sentence.replaceAll('|', '\\|')} | ${marks.join(' | ')} |`
  })
  const reasons = runs.flatMap(({ deployment, verdicts }) =>
    verdicts
      .filter(({ reason }) => reason !== '')
      .map(({ id, outcome, reason }) => `- ${id}, ${deployment}, ${MARK[outcome]}: ${reason.split('\n')[0]}`),
  )
  return [
    '# Conformance',
    '',
    'Written by `npm run ops -- conformance --mode all --slow --markdown docs/conformance.md`. Each sentence of the specification',
    'is checked from outside, section by section. Where a sentence names the contract, the specification leaves the point open',
    'and the game decided it, under that number. Both are given in full, as sentences that are checked.',
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
