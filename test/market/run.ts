/** Plays the fixed season until something does not hold, and says what. Ends with 1 then. */
import type { MatchResult } from '../../ops/tools/market/battery.ts'
import { complaints, complaintsAboutBoards, complaintsAboutPar, MATCHES, played } from './checks.ts'

function report(found: readonly string[]): void {
  const [first] = found
  if (first === undefined) return
  process.stderr.write(`${first}\n`)
  process.exit(1)
}

report(complaintsAboutBoards())
report(complaintsAboutPar())
const results: MatchResult[] = []
for (let n = 0; n < MATCHES; n += 1) {
  results.push(await played(n))
  report(complaints(results))
}
