/** Which matches are listed with their brakes: what is not listed can be neither braked nor ended there. */
import type { Match } from '../client/wire.ts'

/** Of those that are still to come. */
const COMING_MAX = 12

type Listed = Pick<Match, 'state' | 'tradeWindow'>

const OVER: ReadonlySet<string> = new Set(['FT', 'AET', 'FT_PEN', 'FINISHED', 'CANCELLED', 'ABANDONED', 'VOID'])

const isComing = ({ state, tradeWindow }: Listed): boolean =>
  (state === null || state === 'NS') && tradeWindow.status === 'CLOSED'

/** Every match that is under way or traded, then the next ones. */
export function braked<One extends Listed>(all: readonly One[]): readonly One[] {
  const [rest, coming]: [One[], One[]] = [[], []]
  for (const match of all) if (!OVER.has(match.state ?? '')) (isComing(match) ? coming : rest).push(match)
  return [...rest, ...coming.slice(0, COMING_MAX)]
}
