/** Sign-in with the identity provider, then a mailed code and a profile for new users; by name in development. */
import { useEffect, useState } from 'preact/hooks'
import { ApiError, noneIfMissing } from '../client/ask.ts'
import type { District, SignedIn } from '../client/wire.ts'
import { html } from '../html.ts'
import { enterInvited, invitation } from '../invitation.ts'
import { typed, useForm } from '../parts/use-form.ts'
import { useRequest } from '../parts/use-request.ts'
import { leagueCode } from '../leagues.ts'
import { LanguageSwitch } from '../parts/language.ts'
import { Watch, watchedId } from '../parts/watch.ts'
import { leaveForProvider, takeToken } from '../provider.ts'
import { api, type PageFacts, signedIn, wasCutOff } from '../session.ts'
import { toast } from '../toasts.ts'
import { messageFor } from '../error-messages.ts'
import { rich, say, words } from '../words.ts'

export function SignIn({ facts }: { facts: PageFacts }) {
  const [newcomer, setNewcomer] = useState<Newcomer | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  useEffect(() => {
    const token = takeToken()
    // Cut off, the user may have been far down another page.
    scrollTo(0, 0)
    if (token === null) return
    api
      .signInWithToken(token.idToken, token.nonce)
      .then(enter)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'NEEDS_PROFILE') setNewcomer(newcomerFrom(error))
        else setTrouble(messageFor(error))
      })
  }, [])
  return html`
    <main class="sign-in ${watchedId() === null ? '' : 'watching'}">
      ${watchedId() === null ? PITCH : html`<section class="stands"><${Watch} isWhole /><a class="primary" href="#name" onClick=${toTheDoor}>${words.watch.play}</a></section>`}
      <section class="welcome">
        <p class="brand">
          <svg viewBox="0 0 64 64" aria-hidden="true">
            <path class="line" d="M8 53h48" />
            <path class="step" d="M10 41h12V29h12v8h10V15h10" />
          </svg>
          Touchline
        </p>
        ${
          newcomer === null
            ? html`
                <h1>${rich(words.signIn.head, { br: html`<br />` })}</h1>
                <${Inviter} />
                <p>${words.signIn.about}</p>
                ${facts.devSignIn ? html`<${ByName} />` : html`<${WithProvider} facts=${facts} />`}
                <p class="trouble" role="alert">${trouble ?? (wasCutOff.value ? words.errors.UNAUTHORIZED : null)}</p>
                ${watchedId() === null ? html`<${Watch} />` : null}
                <${LanguageSwitch} />
              `
            : newcomer.isVerified
              ? html`<${ProfileStep} newcomer=${newcomer} />`
              : html`<${CodeStep}
                  newcomer=${newcomer}
                  onVerified=${() => setNewcomer({ ...newcomer, isVerified: true })}
                />`
        }
        ${newcomer === null ? null : html`<button class="link" onClick=${() => setNewcomer(null)}>${words.errors.signInAgain}</button>`}
      </section>
    </main>
  `
}

const PITCH = html`
  <section class="pitch" aria-hidden="true">
    <svg viewBox="0 0 400 260" preserveAspectRatio="xMidYMid slice">
      <g class="chalk">
        <path d="M-10 214h420" />
        <circle cx="200" cy="214" r="84" />
        <path d="M200 214v60" />
      </g>
      <path class="step" d="M-10 170h60v-26h46v34h40v-62h52v20h40v-58h56v30h40V44h86" />
    </svg>
  </section>
`

/** From the match to the sign-in below it; the address stays. */
function toTheDoor(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('.welcome :is(input, .primary)')?.focus()
}

function enter({ user, deletionCancelled }: SignedIn): void {
  signedIn(user)
  if (deletionCancelled !== true) return
  toast({ tone: 'good', title: words.signIn.stays, text: words.signIn.staysText })
}

interface Newcomer {
  readonly ticket: string
  readonly email: string
  readonly firstName: string
  readonly resendInSecs: number
  readonly isVerified: boolean
}

const newcomerFrom = ({ facts }: ApiError): Newcomer => ({
  ticket: String(facts['registrationTicket']),
  email: String(facts['email']),
  firstName: /^\S*/.exec(String(facts['name']))?.[0] ?? '',
  resendInSecs: Number(facts['resendInSecs']),
  isVerified: false,
})

/** Who invites the visitor. */
function Inviter() {
  const code = invitation()
  const { answer } = useRequest(async () => (code === null ? null : api.invitation(code)))
  const league = leagueCode()
  const found = useRequest(async () => (league === null ? null : api.leagueOutline(league).catch(noneIfMissing)))
  if (found.answer !== null) {
    const { founder, name, members } = found.answer
    return html`<p class="inviter">
      ${rich(members > 1 ? words.signIn.toLeagueOf : words.signIn.toLeague, { founder: html`<b>${founder}</b>`, league: html`<b>${name}</b>`, n: members })}
    </p>`
  }
  const by = answer?.invitedBy ?? null
  return by === null ? null : html`<p class="inviter">${rich(words.signIn.invites, { who: html`<b>${by}</b>` })}</p>`
}

const WithProvider = ({ facts }: { facts: PageFacts }) => html`
  <div class="provider">
    <button class="primary tall" onClick=${() => leaveForProvider(facts)}>${words.signIn.google}</button>
    <p class="hint">${words.signIn.start}</p>
  </div>
`

function ByName() {
  const [name, setName] = useState('')
  const { trouble, isBusy, onSubmit } = useForm(async () => {
    enter(await enterInvited((code) => api.signInByName(name.trim(), code)))
  })
  return html`
    <form onSubmit=${onSubmit}>
      <label for="name">${words.signIn.yourName}</label>
      <div class="row">
        <input
          id="name"
          autofocus=${watchedId() === null}
          autocomplete="nickname"
          maxlength="64"
          required
          placeholder="Ada"
          value=${name}
          onInput=${(event: Event) => setName(typed(event))}
        />
        <button class="primary" disabled=${isBusy || name.trim() === ''}>${words.signIn.kickOff}</button>
      </div>
      <p class="hint">${trouble ?? words.signIn.start}</p>
    </form>
  `
}

function CodeStep({ newcomer, onVerified }: { newcomer: Newcomer; onVerified: () => void }) {
  const [code, setCode] = useState('')
  const [wait, setWait] = useState(newcomer.resendInSecs)
  const { trouble, isBusy, onSubmit } = useForm(async () => {
    await api.verifyCode(newcomer.ticket, code)
    onVerified()
  })
  const again = useForm(async () => setWait((await api.resendCode(newcomer.ticket)).resendInSecs))
  useEffect(() => {
    const counting = setInterval(() => setWait((left) => Math.max(0, left - 1)), 1_000)
    return () => clearInterval(counting)
  }, [])
  return html`
    <h1>${words.signIn.checkMail}</h1>
    <p>${rich(words.signIn.sent, { email: html`<b>${newcomer.email}</b>` })}</p>
    <form onSubmit=${onSubmit}>
      <label for="code">${words.signIn.code}</label>
      <div class="row">
        <input
          id="code"
          class="num code"
          inputmode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9]{6}"
          maxlength="6"
          required
          value=${code}
          onInput=${(event: Event) => setCode(typed(event))}
        />
        <button class="primary" disabled=${isBusy || !/^\d{6}$/.test(code)}>${words.signIn.continue}</button>
      </div>
      <p class="trouble" role="alert">${trouble ?? again.trouble}</p>
      <button type="button" class="link" disabled=${wait > 0 || again.isBusy} onClick=${again.onSubmit}>
        ${wait > 0 ? say(words.signIn.newCodeIn, { secs: wait }) : words.signIn.newCode}
      </button>
    </form>
  `
}

const USERNAME_PROBLEMS: Readonly<Record<string, string>> = {
  too_short: words.signIn.tooShort,
  too_long: words.signIn.tooLong,
  characters: words.signIn.characters,
  reserved: words.signIn.reserved,
  taken: words.signIn.taken,
}
const TYPING_MS = 300

function ProfileStep({ newcomer }: { newcomer: Newcomer }) {
  const [username, setUsername] = useState('')
  const [firstName, setFirstName] = useState(newcomer.firstName)
  const [districtId, setDistrictId] = useState<number | null>(null)
  const [flaw, setFlaw] = useState<string | null>(null)
  const { answer } = useRequest(() => api.districts())
  const { trouble, isBusy, onSubmit } = useForm(async () => {
    if (districtId === null) return
    const profile = { username, firstName, districtId }
    enter(await enterInvited((referralCode) => api.register(newcomer.ticket, { ...profile, referralCode })))
  })
  useEffect(() => {
    if (username === '') return setFlaw(null)
    let isWanted = true
    const asking = setTimeout(() => {
      api
        .checkUsername(username)
        .then(({ available, reason }) => {
          if (isWanted) setFlaw(available ? null : (USERNAME_PROBLEMS[reason ?? ''] ?? words.signIn.notAvailable))
        })
        .catch(() => undefined) // registering reports it again
    }, TYPING_MS)
    return () => {
      isWanted = false
      clearTimeout(asking)
    }
  }, [username])
  return html`
    <h1>${words.signIn.who}</h1>
    <form onSubmit=${onSubmit}>
      <label for="username">${words.signIn.username}</label>
      <input
        id="username"
        class="tall"
        autocomplete="username"
        autocapitalize="none"
        maxlength="20"
        required
        aria-describedby="username-flaw"
        value=${username}
        onInput=${(event: Event) => setUsername(typed(event).toLowerCase())}
      />
      <p id="username-flaw" class="trouble" role="status">${flaw}</p>
      <label for="first-name">${words.signIn.firstName}</label>
      <input
        id="first-name"
        class="tall"
        autocomplete="given-name"
        maxlength="64"
        required
        value=${firstName}
        onInput=${(event: Event) => setFirstName(typed(event))}
      />
      <label for="district">${words.signIn.district}</label>
      <select
        id="district"
        class="tall"
        required
        value=${districtId ?? ''}
        onChange=${(event: Event) => setDistrictId(Number(typed(event)))}
      >
        <option value="" disabled>${words.signIn.chooseDistrict}</option>
        ${(answer?.districts ?? []).map(({ id, name }: District) => html`<option value=${id}>${name}</option>`)}
      </select>
      <p class="trouble" role="alert">${trouble}</p>
      <button class="primary tall" disabled=${isBusy || flaw !== null || username === '' || districtId === null}>
        ${words.signIn.kickOff}
      </button>
    </form>
  `
}
