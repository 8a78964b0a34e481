/** Private leagues: the list, founding and joining one, and its table. */
import { useEffect, useState } from 'preact/hooks'
import { noneIfMissing } from '../../client/ask.ts'
import type { League, LeaguePlace } from '../../client/wire.ts'
import { messageFor } from '../../error-messages.ts'
import { dayTime, percent, signed, units, way } from '../../format.ts'
import { html } from '../../html.ts'
import { choosePurse, forgetLeagueCode, inWords, leagueCode, leagues, matchOf, refreshLeagues } from '../../leagues.ts'
import { matches, showMatch } from '../../market.ts'
import { go } from '../../route.ts'
import { now } from '../../server-clock.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { typed, useForm } from '../../parts/use-form.ts'
import { useRepeated, useRequest, Waiting } from '../../parts/use-request.ts'
import { plural, rich, say, words, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)

const STATE = {
  upcoming: own.upcoming,
  running: own.running,
  ended: own.ended,
  decided: own.decided,
}

const whenWords = ({ state, startsAt, endsAt, decidedAt }: League): string =>
  say(STATE[state], {
    when: dayTime(state === 'upcoming' ? startsAt : state === 'decided' ? (decidedAt ?? endsAt) : endsAt),
  })

export function PrivateLeagues() {
  const joined = leagues.value.filter(({ kind }) => kind === 'private')
  const [isFounding, setFounding] = useState(false)
  useEffect(() => {
    refreshLeagues().catch(() => undefined) // the list stays as it was
  }, [])
  return html`
    <section class="card" aria-labelledby="private-title">
      <header>
        <h2 id="private-title">${own.title}</h2>
        <button class="small" aria-expanded=${isFounding} onClick=${() => setFounding(!isFounding)}>
          ${isFounding ? own.cancel : own.foundOne}
        </button>
      </header>
      ${isFounding ? html`<${Found} onFounded=${() => setFounding(false)} />` : null}
      ${
        joined.length === 0
          ? html`<p class="empty">${own.about}</p>`
          : html`<ul class="rows inside leagues">
              ${joined.map(
                (league) => html`
                  <li key=${league.id}>
                    <a href="#/league/${league.id}"><b>${league.name}</b></a>
                    <small>${plural(league.members, own.members)} · ${whenWords(league)}</small>
                  </li>
                `,
              )}
            </ul>`
      }
      <${Join} />
    </section>
  `
}

const DAY_MS = 86_400_000
const LENGTHS = [
  [1, own.aDay],
  [7, own.aWeek],
  [30, own.aMonth],
] as const

function Found({ onFounded }: { onFounded: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState(7)
  const [which, setWhich] = useState<'all' | 'practice' | 'tournaments'>('all')
  const { trouble, isBusy, onSubmit } = useForm(async () => {
    const endsAt = new Date(now.peek() + days * DAY_MS).toISOString()
    const league = await api.foundLeague({ name: name.trim(), endsAt, matches: which })
    await refreshLeagues()
    onFounded()
    location.hash = `#/league/${league.id}`
  })
  return html`
    <form class="inside" onSubmit=${onSubmit}>
      <label for="league-name">${own.itsName}</label>
      <input
        id="league-name"
        maxlength="64"
        required
        autocomplete="off"
        value=${name}
        onInput=${(event: Event) => setName(typed(event))}
      />
      <div class="choice" role="group" aria-label=${own.howLong}>
        ${LENGTHS.map(
          ([count, label]) =>
            html`<button type="button" aria-pressed=${days === count} onClick=${() => setDays(count)}>
              ${label}
            </button>`,
        )}
      </div>
      <div class="choice" role="group" aria-label=${own.which}>
        <button type="button" aria-pressed=${which === 'all'} onClick=${() => setWhich('all')}>${own.live}</button>
        <button type="button" aria-pressed=${which === 'practice'} onClick=${() => setWhich('practice')}>
          ${own.recordings}
        </button>
        <button type="button" aria-pressed=${which === 'tournaments'} onClick=${() => setWhich('tournaments')}>
          ${own.tournaments}
        </button>
      </div>
      <p class="hint">${own.foundHint}</p>
      <p class="trouble" role="alert">${trouble}</p>
      <button class="primary tall" disabled=${isBusy || name.trim() === ''}>${own.found}</button>
    </form>
  `
}

function Join() {
  const invited = leagueCode()
  const [code, setCode] = useState(invited ?? '')
  const asked = useRequest(
    async () => (invited === null ? null : api.leagueOutline(invited).catch(noneIfMissing)),
    [invited],
  )
  const { trouble, isBusy, onSubmit } = useForm(async () => {
    const league = await api.joinLeague(code.trim())
    forgetLeagueCode()
    await refreshLeagues()
    toast({
      tone: 'good',
      title: say(own.youAreIn, { name: league.name }),
      text: say(own.youBegin, { n: units(league.startingBalance) }),
    })
    location.hash = `#/league/${league.id}`
  })
  const outline = asked.answer
  return html`
    <form class="inside join" onSubmit=${onSubmit}>
      ${
        outline === null
          ? null
          : html`<p role="status">
              ${rich(own.invited, { founder: html`<b>${outline.founder}</b>`, league: html`<b>${outline.name}</b>`, members: plural(outline.members, own.count), when: dayTime(outline.endsAt) })}
            </p>`
      }
      <label for="league-code">${own.code}</label>
      <div class="row">
        <input
          id="league-code"
          autocomplete="off"
          spellcheck="false"
          maxlength="64"
          required
          value=${code}
          onInput=${(event: Event) => setCode(typed(event))}
        />
        <button class=${outline === null ? 'small tall' : 'primary tall'} disabled=${isBusy || code.trim() === ''}>
          ${own.join}
        </button>
      </div>
      <p class="trouble" role="alert">${trouble}</p>
    </form>
  `
}

const EVERY_MS = 5_000

export function LeagueTable({ id }: { id: string }) {
  const { answer, trouble, again } = useRequest(() => api.league(id), [id])
  useRepeated(again, EVERY_MS)
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const { entries, me, total } = answer
  const league = inWords(answer.league)
  const isBelow = entries.every(({ isMe }) => !isMe)
  return html`
    <section class="card" aria-labelledby="table-title">
      <header>
        <h2 id="table-title">${league.name}</h2>
        <small>${plural(league.members, own.members)} · ${whenWords(league)}</small>
      </header>
      <div class="scroll board" tabindex="0" role="region" aria-label=${own.table}>
        <table>
          <thead>
            <tr>
              <th scope="col">${words.league.rank}</th>
              <th scope="col">${own.member}</th>
              <th scope="col">${own.value}</th>
              <th scope="col">${own.gain}</th>
              <th scope="col">${own.open}</th>
            </tr>
          </thead>
          <tbody>
            ${[...entries, ...(isBelow ? [me] : [])].map((place) => html`<${Place} key=${place.userId} place=${place} />`)}
          </tbody>
        </table>
      </div>
      ${total > entries.length ? html`<p class="hint inside">${say(words.league.first, { n: entries.length, total })}</p>` : null}
      <${Trading} league=${league} />
      <${Invite} league=${league} />
      <${Matches} league=${league} />
      <${Leave} league=${league} />
    </section>
  `
}

const Place = ({ place: { rank, username, value, gainPct, openPositions, isMe } }: { place: LeaguePlace }) => html`
  <tr class=${isMe ? 'me' : ''}>
    <td class="num">${rank}</td>
    <th scope="row">${username}${isMe ? ` ${words.league.you}` : ''}</th>
    <td class="num">${units(value)}</td>
    <td class="num ${way(gainPct)}">${percent(gainPct)}</td>
    <td class="num">${openPositions}</td>
  </tr>
`

function Trading({ league }: { league: League }) {
  if (league.state !== 'running') return null
  const match = matchOf(league)
  if (match === null) return html`<p class="hint inside first">${own.noMatch}</p>`
  const trade = (): void => {
    showMatch(match.id)
    choosePurse(league.id)
    go('trade')
  }
  return html` <div class="inside first"><button class="primary tall" onClick=${trade}>${own.tradeIn}</button></div> `
}

function Invite({ league: { url, code, state } }: { league: League }) {
  if (url === null || state === 'ended' || state === 'decided') return null
  const link = new URL(url, location.origin).href
  const share = async (): Promise<void> => {
    if (navigator.share !== undefined) return navigator.share({ url: link })
    await navigator.clipboard.writeText(link)
    toast({ tone: 'good', title: own.copied, text: link })
  }
  return html`
    <div class="inside invite">
      <p>${rich(own.invite, { code: html`<code>${code}</code>`, link: html`<a href=${link}>${link}</a>` })}</p>
      <p><button class="small" onClick=${() => void share().catch(() => undefined)}>${own.share}</button></p>
    </div>
  `
}

/** Who has made what in one match. */
function Matches({ league }: { league: League }) {
  const [match, setMatch] = useState<number | null>(null)
  const { answer } = useRequest(
    async () => (match === null ? null : api.leagueMatch(league.id, match)),
    [league.id, match],
  )
  if (matches.value.length === 0) return null
  return html`
    <details class="inside">
      <summary>${own.byItself}</summary>
      <select aria-label=${words.match.label} onChange=${(event: Event) => setMatch(Number(typed(event)) || null)}>
        <option value="">${own.choose}</option>
        ${matches.value.map(({ id, home, away }) => html`<option key=${id} value=${id}>${home.name} – ${away.name}</option>`)}
      </select>
      ${
        answer === null
          ? null
          : answer.entries.length === 0
            ? html`<p class="empty">${own.noneClosed}</p>`
            : html`<ol class="standings">
                ${answer.entries.map(
                  ({ rank, userId, username, pnl, closed, isMe }) => html`
                    <li key=${userId} class=${isMe ? 'me' : ''}>
                      <span class="num">${rank}</span><b>${username}</b><small>${say(own.closed, { n: closed })}</small>
                      <span class="num ${way(pnl)}">${signed(pnl)}</span>
                    </li>
                  `,
                )}
              </ol>`
      }
    </details>
  `
}

function Leave({ league }: { league: League }) {
  if (league.kind !== 'private' || league.state === 'decided') return null
  const leave = async (): Promise<void> => {
    if (!confirm(say(own.leaveAsk, { name: league.name }))) return
    try {
      await api.leaveLeague(league.id)
      choosePurse(null)
      await refreshLeagues()
      go('league')
    } catch (error) {
      toast({ tone: 'bad', title: own.stillIn, text: messageFor(error) })
    }
  }
  return html`<p class="inside"><button class="link" onClick=${() => void leave()}>${own.leave}</button></p>`
}
