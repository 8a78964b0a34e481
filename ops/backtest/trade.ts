/**
 * Lets a strategy trade on a server, the same file that `backtest` runs over recordings:
 *
 *   TOUCHLINE_KEY=tl_… npm run ops -- trade ops/examples/strategy.ts --url http://127.0.0.1:3000 [--orders 100]
 *
 * The key needs the scope `trade`; create it on the account page. The account is marked as a bot from its first order.
 * Prices come from the feed, at most once a second; wallet and positions over REST. It ends after `--orders` orders
 * that were carried out, else with Ctrl-C; open positions stay open. The exit code is 1 if the key is refused.
 */
import { parseArgs } from 'node:util'
import { reached, whole } from '../rehearse/rig/options.ts'
import { tradeLive } from './live.ts'
import { loadStrategy } from './strategy.ts'

const { values, positionals } = parseArgs({
  options: { url: { type: 'string', default: 'http://127.0.0.1:3000' }, orders: { type: 'string' } },
  allowPositionals: true,
})
const [file] = positionals
const key = process.env['TOUCHLINE_KEY']
if (file === undefined || positionals.length > 1 || key === undefined || key === '') {
  console.error('TOUCHLINE_KEY=tl_… npm run ops -- trade <strategy.ts> --url http://127.0.0.1:3000 [--orders 100]')
  process.exit(2)
}
const ordersMax = values.orders === undefined ? Infinity : whole('orders', values.orders, 1)
const strategy = await loadStrategy(file)
await reached(values.url, '/health')
try {
  await tradeLive({ url: values.url.replace(/\/$/, ''), key, strategy, ordersMax, log: (line) => console.log(line) })
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
