/** The text that a development server prints at the start: where it listens, and what to try. */

export interface WelcomeFacts {
  readonly url: string
  readonly wsUrl: string
  /** The recording that plays, or null. */
  readonly replay: string | null
}

export function welcome({ url, wsUrl, replay }: WelcomeFacts): string {
  const playing = replay === null ? 'No match is playing.' : `The match "${replay}" is in play, with simulated traders.`
  return `
  Touchline is up. ${playing}

    Play        ${url}/            in a browser
    REST        ${url}/api
    WebSocket   ${wsUrl}/?token=…
    Docs        ${url}/api/docs    both described, with examples

  Try this in another terminal:

    # sign in: the cookies land in ./jar
    curl -s -c jar -H 'content-type: application/json' -d '{"displayName":"Ada"}' ${url}/api/auth/dev

    # look at the market: those who can be traded come first; take an id and its currentPrice
    curl -s -b jar ${url}/api/instruments

    # go long half a lot at the price you saw
    curl -s -b jar -H 'content-type: application/json' -H 'idempotency-key: first' \\
      -d '{"instrumentId":"<id>","direction":"long","lotSize":0.5,"clientPrice":<price>}' ${url}/api/positions/open

    # watch it move; after the hold of 180 s, close it
    curl -s -b jar ${url}/api/positions
    curl -s -b jar -X POST -H 'content-type: application/json' -d '{"clientRequestId":"first-close"}' \\
      ${url}/api/positions/<id>/close

  Ctrl-C stops the server. Everything is kept, and the next start continues from here.

`
}
