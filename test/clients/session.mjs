/** The program of a live session in JavaScript, with the package as it is published. */
import { createInterface } from 'node:readline'
import { ApiError, createApi, Feed, FLAG, newKey } from 'touchline-client'
import { createRest } from 'touchline-client/operations'

const [baseUrl, instrumentId] = process.argv.slice(2)
const api = createApi({ baseUrl, key: process.env.TOUCHLINE_KEY })
const call = createRest(api)
const { fixtureId } = await call('getInstrument', { path: { id: instrumentId } })

const feed = new Feed({
  token: () => api.socketToken(),
  onPrice: ({ flags, epoch, seq, previousPrice, price }) =>
    console.log(`frame ${flags} ${epoch} ${seq} ${previousPrice} ${price}`),
  onAccount: ({ marker, snapshot, events }) => {
    if (snapshot) console.log(`account ${marker} snapshot`)
    for (const event of events) console.log(`account ${event.marker} ${event.type}`)
  },
  onState: (state) => console.log(`state ${state}`),
})
if (FLAG.replay !== 2) throw new Error('the flags are not those of the documentation')
feed.follow([{ instrumentId, fixtureId }])
feed.start()

let position
for await (const line of createInterface(process.stdin)) {
  const [word, lots] = line.split(' ')
  try {
    if (word === 'open') {
      const { currentPrice: clientPrice } = await call('getInstrument', { path: { id: instrumentId } })
      const order = { instrumentId, direction: 'long', lotSize: Number(lots), clientPrice }
      position = (await api.open(order, newKey())).position
      console.log(`opened ${position.id}`)
    } else if (word === 'close') {
      const closed = await api.close(position.id, newKey())
      console.log(`closed ${closed.position.closedBy}`)
    } else break
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    console.log(`refused ${error.code}`)
  }
}
feed.stop()
