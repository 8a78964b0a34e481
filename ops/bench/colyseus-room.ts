/** Colyseus as a baseline: the matchmaker of this process with one room, on a server of the benchmark. */
import type { Server } from 'node:http'
import { LocalDriver, LocalPresence, matchMaker, type Room } from '@colyseus/core'
import { WebSocketTransport } from '@colyseus/ws-transport'

export interface OpenedRoom<R> {
  readonly room: R
  readonly roomId: string
  /** The address of the room's sockets, without a session. */
  readonly path: string
  /** The session ids of the reserved seats. */
  readonly sessions: readonly string[]
}

/** Creates a room with these options, and reserves seats in it. Its sockets are upgrades of `server`. */
export async function openRoom<R extends Room>(
  server: Server,
  type: new () => R,
  { options, seats }: { readonly options: object; readonly seats: number },
): Promise<OpenedRoom<R>> {
  const transport = new WebSocketTransport({ noServer: true, pingInterval: 0 })
  server.on('upgrade', (request, socket, head) => {
    transport['wss'].handleUpgrade(request, socket, head, (ws) => transport['wss'].emit('connection', ws, request))
  })
  matchMaker.setHealthChecksEnabled(false)
  await matchMaker.setup(new LocalPresence(), new LocalDriver(), undefined, async () => matchMaker.processId)
  await matchMaker.accept()
  matchMaker.defineRoomType('market', type)
  const listing = await matchMaker.createRoom('market', options)
  const room = matchMaker.getLocalRoomById(listing.roomId)
  if (!(room instanceof type)) throw new Error('there is no room')
  const sessions: string[] = []
  for (let n = 0; n < seats; n++) sessions.push((await matchMaker.reserveSeatFor(listing, {}, {})).sessionId)
  return { room, roomId: listing.roomId, path: `/${matchMaker.processId}/${listing.roomId}`, sessions }
}
