/** The ids of players' instruments. */
import { createHash } from 'node:crypto'
import { type InstrumentId, instrumentId, type PlayerId } from '../../actors/kernel/ids.ts'

/** The namespace of instrument ids: a UUID of our own. */
const INSTRUMENTS = '8c1f2f2e-5b0a-4c39-9d5e-3f6a7b1c4d20'

/**
 * The lasting id of a player's instrument: a UUIDv5 of namespace and player. The live feed's namespace is `provider`, a
 * replay's is `replay/<name>`, so a replay never touches a real player's price.
 */
export function instrumentIdFor(namespace: string, id: PlayerId): InstrumentId {
  const hash = createHash('sha1')
    .update(Buffer.from(INSTRUMENTS.replaceAll('-', ''), 'hex'))
    .update(`${namespace}/player/${id}`)
    .digest()
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = hash.toString('hex', 0, 16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
  return instrumentId(parts.join('-'))
}
