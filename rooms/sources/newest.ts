/** Of a fixture that an answer lists several times, which row counts. */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'

/** Each fixture once: of several rows the one whose clock is ahead, else the last. */
export function newest(fixtures: readonly SaidFixture[]): Iterable<SaidFixture> {
  const secsOf = ({ periods }: SaidFixture): number => periods.reduce((sum, p) => sum + (p.elapsedSecs ?? 0), 0)
  const found = new Map<FixtureId, SaidFixture>()
  for (const snapshot of fixtures) {
    const other = found.get(snapshot.fixtureId)
    if (other === undefined || secsOf(snapshot) >= secsOf(other)) found.set(snapshot.fixtureId, snapshot)
  }
  return found.values()
}
