/** Who may hold a socket: the bearers of living sessions, and admins alone while the flag `coming_soon` is set. */
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import type { Flags } from '../../actors/kernel/settings.ts'
import type { RealTime } from '../../rooms/boot.ts'
import type { VerifyToken } from '../../rooms/sockets/admission.ts'
import type { Sessions } from './sessions.ts'

export interface SocketVisitorsOptions {
  readonly sessions: Pick<Sessions, 'verifyWs' | 'livingAmong' | 'lookForEnded'>
  readonly adminsAmong: (users: readonly UserId[]) => Promise<ReadonlySet<UserId>>
  /** Read each time, so that a changed flag takes effect at once. */
  readonly flags: () => Flags
}

export interface SocketVisitors {
  readonly verify: VerifyToken
  /** Closes the sockets of sessions that have just ended, wherever that was. To be called twice a second. */
  readonly closeJustEnded: (sockets: Pick<Sockets, 'disconnectVisitors'>) => Promise<void>
  /** Closes the sockets whose sessions have ended or expired. To be called every few seconds. Rejects with a fault. */
  readonly closeEnded: (sockets: Sockets) => Promise<void>
  /**
   * While `coming_soon` is set, closes all sockets but those of admins. To be called every second. Rejects with a
   * fault.
   */
  readonly closeEarly: (sockets: Sockets) => Promise<void>
}

type Sockets = Pick<RealTime, 'visitors' | 'disconnectVisitors'>

export function createSocketVisitors({ sessions, adminsAmong, flags }: SocketVisitorsOptions): SocketVisitors {
  return {
    verify: async (token) => {
      const claims = await sessions.verifyWs(token)
      if (claims === null) return null
      const { userId, sid: sessionId } = claims
      if (flags().coming_soon && !(await adminsAmong([userId])).has(userId)) return 'forbidden'
      return { userId, sessionId }
    },
    closeJustEnded: async (sockets) => {
      const ended = new Set((await sessions.lookForEnded()).map(({ id }) => id))
      if (ended.size > 0) sockets.disconnectVisitors(({ sessionId }) => ended.has(sessionId), 'session over')
    },
    closeEnded: async (sockets) => {
      const asked = new Set<SessionId>(sockets.visitors().map(({ sessionId }) => sessionId))
      const living = await sessions.livingAmong([...asked])
      // A socket that came meanwhile was not asked about.
      sockets.disconnectVisitors(({ sessionId }) => asked.has(sessionId) && !living.has(sessionId), 'session over')
    },
    closeEarly: async (sockets) => {
      if (!flags().coming_soon) return
      const admins = await adminsAmong([...new Set(sockets.visitors().map(({ userId }) => userId))])
      sockets.disconnectVisitors(({ userId }) => !admins.has(userId), 'coming soon')
    },
  }
}
