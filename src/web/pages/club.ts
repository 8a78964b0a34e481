/** Achievements, the activity of others, and the cards of features. */
import { PAGE_FEATURES } from '../features/index.ts'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { api } from '../session.ts'
import { badgeWords, headlineWords } from '../served.ts'
import { rich, say, words } from '../words.ts'

const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.club ?? [])

export const Club = () => html`
  <div class="page">
    <h1>${words.club.title}</h1>
    <div class="columns">
      <div><${Badges} /></div>
      <div>${CARDS.map((Card) => html`<${Card} />`)}<${Activity} /></div>
    </div>
  </div>
`

function Badges() {
  const { answer, trouble } = useRequest(() => api.achievements())
  return html`
    <section class="card" aria-labelledby="badges-title">
      <header>
        <h2 id="badges-title">${words.club.achievements}</h2>
        ${answer === null ? null : html`<span class="level">${rich(words.club.level, { n: html`<b>${answer.level}</b>`, xp: answer.xp })}</span>`}
      </header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<ul class="badges">
              ${answer.earned.map(
                ({ id, name, description, earnedAt }) => html`
                  <li key=${id} class="earned">
                    <i aria-hidden="true">★</i>
                    <div>
                      <b>${badgeWords(id, { name, description }).name}</b>
                      <p>${badgeWords(id, { name, description }).description}</p>
                      <small>${say(words.club.earned, { when: dayTime(earnedAt) })}</small>
                    </div>
                  </li>
                `,
              )}
              ${answer.locked
                .map((badge) => ({
                  ...badge,
                  current: Math.floor(badge.progress.current),
                  target: badge.progress.target,
                }))
                .map(
                  ({ id, name, description, current, target }) => html`
                    <li key=${id}>
                      <i aria-hidden="true">☆</i>
                      <div>
                        <b>${badgeWords(id, { name, description }).name}</b>
                        <p>${badgeWords(id, { name, description }).description}</p>
                        <progress
                          max=${target}
                          value=${current}
                          aria-label=${say(words.club.progress, { name: badgeWords(id, { name, description }).name, current, target })}
                        ></progress>
                        <small class="num">${say(words.club.of, { current, target })}</small>
                      </div>
                    </li>
                  `,
                )}
            </ul>`
      }
    </section>
  `
}

function Activity() {
  const { answer, trouble } = useRequest(() => api.activity())
  return html`
    <section class="card" aria-labelledby="activity-title">
      <header><h2 id="activity-title">${words.club.around}</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : answer.events.length === 0
            ? html`<p class="empty">${words.club.noActivity}</p>`
            : html`<ul class="rows inside">
                ${answer.events.map(
                  (event) =>
                    html`<li key=${event.id}>
                      <span><b>${event.username}</b> ${headlineWords(event)}</span><small>${dayTime(event.at)}</small>
                    </li>`,
                )}
              </ul>`
      }
    </section>
  `
}
