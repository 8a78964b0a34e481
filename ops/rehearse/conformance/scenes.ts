/** What checks of several sections set up in the same way. */
import type { Room } from '@colyseus/sdk'
import type { CheckContext, User } from './context.ts'
import { type PriceFrame, readPriceFrame } from './price-frame.ts'
import { Positions, type PositionSeen } from './shapes.ts'
import { newAddress, type Visitor } from './visitor.ts'

/** The position of this user that was closed last, once there is one. */
export const closedOne = (t: CheckContext, user: User, what: string): Promise<PositionSeen> =>
  t.eventually(what, async () => (await user.get('/api/positions?status=closed', Positions)).positions[0])

/** Closes a position with a profit (or a loss) so that its owner is ranked. */
export async function ranked(t: CheckContext, outcome: 'wins' | 'loses', profile: object = {}): Promise<User> {
  const [user, crowd, player] = [await t.user(profile), await t.user(), await t.player()]
  const { position } = await user.opens(player, { direction: outcome === 'wins' ? 'long' : 'short' })
  await crowd.opens(player, { lotSize: 15 })
  await user.closes(position.id)
  await t.eventually('the rank', async () => {
    const { body } = await user.ask('GET', '/api/leaderboard/me')
    return (body as { ranked?: boolean }).ranked === true ? true : undefined
  })
  return user
}

/** A visitor whose requests all come from one address that no other visitor has. */
export function fromOneAddress<V extends Visitor>(t: CheckContext, visitor: V): V {
  if (t.target.trust === null) t.skip('needs a deployment that believes forwarded addresses (--trust)')
  visitor.address = newAddress()
  return visitor
}

/** The prices that a room has sent, in order of arrival. */
export function pricesOf(room: Room): PriceFrame[] {
  const frames: PriceFrame[] = []
  room.onMessage('price', (bytes: Uint8Array) => void frames.push(readPriceFrame(bytes)))
  for (const other of ['error', 'notification']) room.onMessage(other, () => undefined)
  return frames
}
