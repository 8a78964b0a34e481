/** The background work for matches and visitors, and the adding of all tasks. */
import { Erasures } from '../auth/erasures.ts'
import type { SocketVisitors } from '../auth/socket-visitors.ts'
import type { Host } from '../features/feature.ts'
import type { DelayedMatches } from '../http/delayed-matches.ts'
import type { GameplayBot } from '../replays/gameplay-bot.ts'
import { EVERYWHERE, type Task, TaskRunner } from './task-runner.ts'

/** What ends with a session, a closed market or an account. */
export function visitorTasks(
  { accounts: { deletions }, log, realTime }: Host,
  visitors: SocketVisitors,
): readonly Task[] {
  const erasures = new Erasures({ deletions, desk: realTime.desk, log })
  return [
    {
      // Twice a second: a session that has ended anywhere is over in every process within a second, with its sockets.
      name: 'ended-sessions',
      everyMs: 503,
      roles: EVERYWHERE,
      run: () => visitors.closeJustEnded(realTime),
    },
    {
      // About ten seconds: a day would do, but positions that wait for a market should close soon after it opens.
      name: 'erasures',
      everyMs: 10_007,
      roles: ['rooms'],
      run: () => erasures.look(),
    },
    {
      // About five seconds: how long a socket may outlive a session that ended without a sign-out.
      name: 'session-scan',
      everyMs: 4_993,
      roles: EVERYWHERE,
      run: () => visitors.closeEnded(realTime),
    },
    {
      // About a second: with the flag's own half a second, `coming_soon` has closed every socket within three.
      name: 'early-visitors',
      everyMs: 991,
      roles: EVERYWHERE,
      run: () => visitors.closeEarly(realTime),
    },
  ]
}

/** What matches, boards and settings wait for. */
export function matchTasks(
  { market, community, observation, realTime }: Host,
  bot: GameplayBot,
  watching: DelayedMatches,
): readonly Task[] {
  return [
    {
      // Twice a second: a setting changed in one process is in force in every other within a second.
      name: 'settings-refresh',
      everyMs: 499,
      roles: EVERYWHERE,
      run: () => market.settings.refresh(),
    },
    {
      // How old a place on a leaderboard may be.
      name: 'board-refresh',
      everyMs: 211,
      roles: EVERYWHERE,
      run: () => community.keeper.show(),
    },
    {
      // About ten seconds: the window over which the lag of the event loop is reported.
      name: 'loop-lag',
      everyMs: 9_967,
      roles: EVERYWHERE,
      run: () => observation.measuring.turnLoop(),
    },
    {
      // About a second: no stop-loss may wait for a visitor, so unsettled matches that no process runs are taken up.
      name: 'orphan-scan',
      everyMs: 983,
      roles: EVERYWHERE,
      atStart: 'begin',
      run: () => realTime.desk.lookForOrphans(),
    },
    {
      // About a second: how late a process notices that others hear the bus and it does not.
      name: 'presence',
      everyMs: 1_019,
      roles: EVERYWHERE,
      atStart: 'begin',
      run: () => realTime.presence?.look(),
    },
    {
      // What visitors see is at most this much older than its delay.
      name: 'watching',
      everyMs: 4_987,
      roles: ['api'],
      atStart: 'begin',
      run: () => watching.keep(),
    },
    {
      // About a second: a replay started or stopped through another process follows within it.
      name: 'replay-sync',
      everyMs: 997,
      roles: ['rooms'],
      atStart: 'await',
      run: () => bot.look(),
    },
  ]
}

/** Adds the tasks of this process's roles, each as a part of its own. */
export function addTasks(host: Host, tasks: readonly Task[]): void {
  const { config, lifecycle, log, world, observation } = host
  const runners = tasks
    .filter(({ roles }) => roles.some((role) => config.roles.includes(role)))
    .map((task) => new TaskRunner(task, { log, clock: world.steady }))
  for (const runner of runners)
    lifecycle.add({ name: runner.name, kind: 'worker', start: () => runner.start(), stop: () => runner.stop() })
  observation.measuring.observeTasks(() => runners.map(({ state }) => state))
}
