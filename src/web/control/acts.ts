/** The dangerous acts of operators, each with its question. */
import { closedByWords } from '../account.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { newKey } from '../client/ask.ts'
import type { PersonalKey } from '../client/wire.ts'
import { dayTime, lots, percent, signed, units } from '../format.ts'
import { nameOf } from '../names.ts'
import { plural } from '../words.ts'
import { ask } from './ask.ts'
import type { Flag, Setting } from './answers.ts'
import { COUNT, heldWords, keptWords } from './held.ts'
import {
  type Holding,
  type ListedUser,
  operations,
  type Risk,
  type SettingValue,
  TRADING_MODE,
  type UserFile,
} from './operations.ts'

export type Mode = 'open' | 'reduce_only' | 'halted'
export const MODE_WORDS: Readonly<Record<Mode, string>> = { open: 'Open', reduce_only: 'Close only', halted: 'Halted' }

const MEANING: Readonly<Record<Mode, string>> = {
  open: 'Everything can be traded again there.',
  reduce_only: 'Users can open nothing there. They can still close.',
  halted: 'Users can neither open nor close there.',
}

/** The open positions of what a trading mode is about, or of one match. */
async function held(key: string, name: string): Promise<string> {
  const [, , kind, id = ''] = key.split('.')
  const { exposures } = await operations.risk()
  if (kind === undefined) return heldWords(exposures, name)
  const isIn = (one: Risk['exposures'][number]) => (kind === 'match' ? String(one.matchId) : one.instrumentId) === id
  return heldWords(exposures.filter(isIn), name)
}

/** A brake that is not listed is open. */
const settingState = (now?: Pick<Setting, 'value' | 'updatedAt'>): string =>
  JSON.stringify([now?.value ?? 'open', now?.updatedAt ?? null])

const stateOfSetting = (key: string) => async () =>
  settingState((await operations.settings()).settings.find((one) => one.key === key))

/** One that does not exist is off. */
const flagState = (now?: Pick<Flag, 'enabled' | 'updatedAt'>): string =>
  JSON.stringify([now?.enabled ?? false, now?.updatedAt ?? null])

const stateOfUser = (id: string, what: 'status' | 'role') => async () => {
  const { user, deeds } = await operations.user(id)
  return JSON.stringify([user[what], deeds.filter(({ action }) => action === `user.${what}`).map((deed) => deed.id)])
}

/** Opens or closes trading. */
export const setMode = (scope: { readonly key: string; readonly name: string }, was: Mode, mode: Mode) =>
  ask({
    title: `${scope.name}: ${mode === 'open' ? 'release the brake' : MODE_WORDS[mode].toLowerCase()}`,
    label: { open: 'Release', reduce_only: 'Close only', halted: 'Halt' }[mode],
    change: { from: MODE_WORDS[was], to: MODE_WORDS[mode] },
    effects: async () => [
      MEANING[mode],
      await held(scope.key, scope.name),
      'Stop-losses, take-profits, washouts and full time still close positions.',
    ],
    reason: 'asked',
    state: stateOfSetting(scope.key),
    shown: was,
    run: async (reason) => settingState(await operations.setSetting(scope.key, mode, { reason })),
    undo: () => operations.setSetting(scope.key, was, { reason: 'undone' }),
  })

export const setFlag = (key: string, enabled: boolean) =>
  ask({
    title: `${key}: ${enabled ? 'on' : 'off'}`,
    label: enabled ? 'Turn on' : 'Turn off',
    change: { from: enabled ? 'off' : 'on', to: enabled ? 'on' : 'off' },
    effects: async () =>
      key === 'coming_soon'
        ? [
            enabled ? 'All but admins are cut off within three seconds.' : 'All users can use the service again.',
            await held(TRADING_MODE, 'They hold'),
          ]
        : ['Programs and pages that know the flag follow it within a second.'],
    reason: 'asked',
    state: async () => flagState((await operations.flags()).flags.find((flag) => flag.key === key)),
    shown: !enabled,
    run: async (reason) => flagState(await operations.setFlag(key, enabled, reason)),
    undo: () => operations.setFlag(key, !enabled, 'undone'),
  })

/** Sets a setting, or any mode that is not of the three buttons. */
export function setSetting(key: string, was: SettingValue, value: SettingValue) {
  let force = false
  const trial = PAGE_FEATURES.flatMap(({ sections }) => sections ?? []).find(({ triesSettings }) => triesSettings)
  return ask({
    title: key,
    label: 'Set it',
    change: { from: String(was), to: String(value) },
    effects: async () => {
      const { maxMovePct, closes, needsForce, matches } = await operations.foresee(key, value)
      force = needsForce
      const unknown = matches.filter(({ known }) => !known).length
      return [
        matches.length === 0
          ? 'No running price moves.'
          : `Prices of ${plural(matches.length, { one: '{n} match', other: '{n} matches' })} move, by ${percent(maxMovePct).replace('+', '')} at most; ${plural(closes, COUNT)} close.`,
        ...(unknown === 0 ? [] : [`${unknown} of them did not answer.`]),
        ...(needsForce ? ['That exceeds rules.max_move_pct. Confirm to change it anyway.'] : []),
        'In force everywhere within a second.',
      ]
    },
    isNeeded: true,
    ...(trial === undefined
      ? {}
      : { tryAt: `#/control/${trial.key}/${encodeURIComponent(key)}=${encodeURIComponent(String(value))}` }),
    reason: 'asked',
    state: stateOfSetting(key),
    shown: was,
    run: async (reason) => settingState(await operations.setSetting(key, value, { force, reason })),
    undo: () => operations.setSetting(key, was, { force, reason: 'undone' }),
  })
}

/** Ends a match that does not end on its own. */
export const endMatch = ({ id, name }: { readonly id: number; readonly name: string }, outcome: 'settle' | 'void') =>
  ask({
    title: `${outcome === 'settle' ? 'End and settle' : 'End and void'} ${name}`,
    label: outcome === 'settle' ? 'End and settle' : 'End and void',
    effects: async () => [
      outcome === 'settle'
        ? 'Every position is settled at the last prices.'
        : 'Every margin is given back, and nothing else.',
      await held(`${TRADING_MODE}.match.${id}`, name),
    ],
    reason: 'asked',
    run: (reason) => operations.endMatch(id, outcome, reason),
  })

export const setStatus = ({ userId, username, status }: ListedUser, purses: UserFile['purses']) => {
  const next = status === 'frozen' ? 'active' : 'frozen'
  return ask({
    title: next === 'frozen' ? `Freeze ${username}` : `Let ${username} trade again`,
    label: next === 'frozen' ? 'Freeze' : 'Unfreeze',
    effects: () =>
      next === 'frozen'
        ? ['They are signed out, may close positions, open none, and leave every board.', keptWords(purses)]
        : ['They may open positions, and are on the boards again.'],
    reason: 'about a user',
    state: stateOfUser(userId, 'status'),
    shown: status,
    run: (reason) => operations.setStatus(userId, next, reason),
    undo: () => operations.setStatus(userId, status, 'undone'),
  })
}

export const note = ({ userId, username }: ListedUser) =>
  ask({
    title: `A note about ${username}`,
    label: 'Note it',
    effects: () => [],
    reason: 'text',
    run: (text) => operations.note(userId, text),
  })

export const setRole = ({ userId, username, role }: ListedUser) => {
  const next = role === 'admin' ? 'user' : 'admin'
  return ask({
    title: next === 'admin' ? `Make ${username} an admin` : `Make ${username} a plain user`,
    label: next === 'admin' ? 'Make an admin' : 'Remove role',
    change: { from: role, to: next },
    effects: () => [
      next === 'admin'
        ? 'They may do everything that this page does, after their next sign-in at the latest.'
        : 'They are signed out at once, and their keys end.',
    ],
    reason: 'about a user',
    state: stateOfUser(userId, 'role'),
    shown: role,
    run: (reason) => operations.setRole(userId, next, reason),
    undo: () => operations.setRole(userId, next === 'admin' ? 'user' : 'admin', 'undone'),
  })
}

export const voidPosition = (position: Holding) => {
  const { id, instrumentId, lotSize, direction, openPrice, margin, realizedPnl, unrealizedPnl, status } = position
  // One for all that the question sends: a repetition learns what the first has done.
  const key = newKey()
  const what = `${nameOf(instrumentId)}, ${direction} ${lots(lotSize)} at ${units(openPrice)}`
  return ask({
    title: `Void ${what}`,
    label: 'Void',
    effects: () => [
      status === 'open'
        ? `Its margin of ${units(margin)} goes back; ${signed(unrealizedPnl)} is not booked.`
        : `${closedByWords(position)}: the ${signed(realizedPnl ?? 0)} that it made is taken back.`,
      'It then counts nowhere, and its owner reads the reason.',
    ],
    reason: 'about a user',
    run: (reason) => operations.voidPosition(id, reason, key),
  })
}

/** Starts a replay. One that may pay the main purse asks first. */
export const startReplay = (
  recording: string,
  { speed, traders, practice }: { speed: number; traders: number; practice: boolean | null },
) => {
  let started = ''
  return ask({
    title: `Play ${recording}`,
    label: 'Play',
    effects: async () => {
      const { mainPurseIsLive } = await operations.replays()
      const { settings } = await operations.settings()
      const byDefault = settings.find(({ key }) => key === 'replays.practice')?.value === true
      const isPractice = practice ?? byDefault
      return [
        `${speed}× real time, with ${traders} simulated traders.`,
        isPractice
          ? 'Traded with practice money: nothing that is won counts.'
          : 'Traded with the main purse: what is won counts.',
        ...(!isPractice && mainPurseIsLive
          ? ['Live matches are traded with the same purse, and a user who knows the recording knows how it ends.']
          : []),
      ]
    },
    reason: 'asked',
    run: async (reason) => {
      started = (await operations.startReplay(recording, speed, traders, practice, reason)).started
    },
    undo: () => operations.stopReplay(started, 'undone'),
  })
}

export const stopReplay = ({ id, fixtureId, matchId }: { id: string; fixtureId: string; matchId: number }) =>
  ask({
    title: `Stop ${fixtureId}`,
    label: 'Stop',
    effects: async () => [
      'Open positions settle at the current prices.',
      await held(`${TRADING_MODE}.match.${matchId}`, `Match ${matchId}`),
    ],
    reason: 'asked',
    run: (reason) => operations.stopReplay(id, reason),
  })

/** Removes something without effect on money. */
export const remove = (title: string, effects: readonly string[], run: (reason: string) => Promise<unknown>) =>
  ask({ title, label: 'Remove', effects: () => effects, reason: 'asked', run })

export const revokeKey = ({ id, name, scopes, lastUsedAt }: PersonalKey, username: string) =>
  ask({
    title: `Revoke ${name} of ${username}`,
    label: 'Revoke',
    effects: () => [
      `Programs that use it are refused at once, everywhere: ${scopes.join(', ')}.`,
      lastUsedAt === null ? 'It was never used.' : `It was last used at ${dayTime(lastUsedAt)}, to ten minutes.`,
    ],
    reason: 'asked',
    run: (reason) => operations.revokeKey(id, reason),
  })
