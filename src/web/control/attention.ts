/** What an operator must look at now, each with the page of the runbook about it. */
import { html } from '../html.ts'
import { matches } from '../market.ts'
import { nameOf } from '../names.ts'
import { useRepeated, useRequest } from '../parts/use-request.ts'
import { endMatch } from './end-match.ts'
import { operations, TRADING_MODE } from './operations.ts'
import { acted, runAction } from './run-action.ts'

const AGAIN_MS = 10_000

interface Concern {
  readonly what: string
  /** The anchor of its section in the runbook. */
  readonly runbook: string
  readonly acts?: readonly { readonly label: string; readonly run: () => Promise<void> }[]
}

export function Attention() {
  const { answer, again } = useRequest(gather, [acted.value])
  useRepeated(again, AGAIN_MS)
  if (answer === null) return null
  return html`
    <section class="card attention" aria-labelledby="attention-title" aria-live="polite">
      <header><h2 id="attention-title">Needs attention</h2></header>
      ${
        answer.length === 0
          ? html`<p class="empty">Nothing. Alerts of Prometheus are shown where it sends them.</p>`
          : html`<ul class="rows inside">
              ${answer.map(
                ({ what, runbook, acts = [] }) => html`
                  <li key=${what}>
                    <b>${what}</b>
                    ${acts.map(
                      ({ label, run }) => html`<button class="small" onClick=${() => void run()}>${label}</button>`,
                    )}
                    <a href="#/control/runbook/${runbook}">What to do</a>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `
}

/** What the key of a trading mode is about. */
function braked(key: string): string {
  const [, , kind, id = ''] = key.split('.')
  if (kind === undefined) return 'every match'
  if (kind === 'instrument') return nameOf(id)
  const match = matches.value.find((one) => String(one.id) === id)
  return match === undefined ? `match ${id}` : `${match.home.name} – ${match.away.name}`
}

/** What cannot be asked is left out: the parts that do not answer are named anyway. */
async function gather(): Promise<readonly Concern[]> {
  const orNull = <T>(asked: Promise<T>): Promise<T | null> => asked.catch(() => null)
  const [ready, feed, reactions, webhooks, settings, flags, audit, replays] = await Promise.all([
    orNull(operations.ready()),
    orNull(operations.feed()),
    orNull(operations.reactions()),
    orNull(operations.webhooks()),
    orNull(operations.settings()),
    orNull(operations.flags()),
    orNull(operations.audit()),
    orNull(operations.replays()),
  ])
  const brakes = (settings?.settings ?? []).filter(({ key, value }) => key.startsWith(TRADING_MODE) && value !== 'open')
  const paying = replays?.mainPurseIsLive === true ? replays.replays.filter(({ practice }) => !practice) : []
  const protection = settings?.settings.find(({ key }) => key === 'trading.protection')
  const cheats = (audit?.entries ?? []).filter(({ action }) => action === 'integrity.alert')
  return [
    ...Object.entries(ready?.checks ?? {}).flatMap(([part, state]): Concern[] =>
      state === 'ok' ? [] : [{ what: `A part does not answer: ${part}`, runbook: 'a-part-is-unavailable' }],
    ),
    ...(feed?.quarantined ?? []).map(({ matchId, name, reason, positions, margin }) => ({
      what: `${name} cannot be read (${reason}): ${positions} positions with ${margin} units of margin wait`,
      runbook: 'a-match-cannot-be-read',
      acts: [
        { label: 'Settle', run: async () => endMatch({ id: matchId, name }, 'settle') },
        { label: 'Void', run: async () => endMatch({ id: matchId, name }, 'void') },
      ],
    })),
    ...(feed?.faults ?? []).map(({ reason, matchId, detail, times, lastAt }) => ({
      what: `The feed, ${reason}${matchId === null ? '' : ` of fixture ${matchId}`}: ${detail} (${times} times, last ${lastAt})`,
      runbook: 'the-feed-is-frozen',
    })),
    ...(reactions?.setAside ?? []).map(({ matchId, seq, error }) => ({
      what: `The reaction to commit ${seq} of match ${matchId} failed: ${error}`,
      runbook: 'reactions-are-late',
      acts: [
        {
          label: 'Retry',
          run: async () => void (await runAction('Reaction', () => operations.retryReaction(matchId, seq))),
        },
      ],
    })),
    ...(webhooks?.webhooks ?? []).flatMap(({ url, failingSince }): Concern[] =>
      failingSince === null ? [] : [{ what: `A webhook fails: ${url}`, runbook: 'a-webhook-fails' }],
    ),
    ...brakes.map(({ key, value }) => ({
      what: `A brake is on ${braked(key)}: ${value === 'halted' ? 'halted' : 'close only'}`,
      runbook: 'the-brake',
      acts: [
        { label: 'Release', run: async () => void (await runAction(key, () => operations.setSetting(key, 'open'))) },
      ],
    })),
    ...((flags?.flags ?? []).some(({ key, enabled }) => key === 'coming_soon' && enabled)
      ? [{ what: 'coming_soon is on: only admins can use the service', runbook: 'the-brake' }]
      : []),
    ...paying.map(({ fixtureId, matchId }) => ({
      what: `The replay ${fixtureId} (match ${matchId}) pays the main purse, and its outcome may be known`,
      runbook: 'match-day',
    })),
    ...(replays?.mainPurseIsLive === true && protection?.value === 'off'
      ? [{ what: `trading.protection is off. ${protection.description}`, runbook: 'somebody-cheats' }]
      : []),
    ...(cheats.length === 0
      ? []
      : [{ what: `${cheats.length} of the last 100 audit entries report cheats`, runbook: 'somebody-cheats' }]),
  ]
}
