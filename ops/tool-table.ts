/** Every tool of `npm run ops`: its name, its file, and one line of help. */

export interface Tool {
  readonly name: string
  readonly file: string
  readonly help: string
}

const tool = (name: string, file: string, help: string): Tool => ({ name, file, help })

export const TOOLS: readonly Tool[] = [
  // Running a deployment
  tool('keygen', './tools/keygen.ts', 'print a signing key and secrets for a new installation'),
  tool('preflight', './tools/preflight/main.ts', 'check a deployment before a match day; changes nothing'),
  tool('migrate', './tools/migrate.ts', 'migrate the database to this version: a step of its own in a release'),
  tool('probe', './tools/probe/main.ts', 'trade a deployment from outside; shows Prometheus whether it works'),
  tool('pin-images', './tools/pin-images.ts', 'pin the images of deployment files to digests'),
  tool('sbom', './tools/sbom.ts', 'list what the image contains, with digests, and check the list'),
  tool('market', './tools/market/main.ts', 'what a battery of strategies earns in simulated matches'),
  tool('market-fit', './tools/market/fit.ts', 'fit what prices expect of players beforehand'),
  tool('integrity', './tools/integrity/main.ts', 'find cheats that are planted among honest traders'),
  tool('legacy-import', './tools/legacy-import.ts', 'import legacy trades from a CSV file'),
  tool('reactions-rebuild', './tools/reactions-rebuild.ts', 'rebuild careers, XP and weeks from the trade history'),
  tool('ledger-audit', './tools/ledger-audit.ts', 'add up the whole ledger, entry by entry'),
  tool('months', './tools/months.ts', 'list the months of the ledger and the archives, or detach one'),
  tool('audit-verify', './tools/audit-verify.ts', 'check that no entry of the audit log was altered or removed'),
  tool('at', './tools/at.ts', 'show a match at a moment of its past, from its journal'),
  tool('tape-forgeries', './verify/forgeries.ts', 'forge the tapes of matches, and have the verifier find it'),
  tool('journal-verify', './tools/journal-verify.ts', 'derive all bases again from the journals of matches'),
  tool('tape-verify', './tools/tape-verify.ts', 'prove the public tapes of matches as they are stored'),
  tool('prices-verify', './tools/prices-verify.ts', 'hold the prices of recordings against those published before'),
  tool('tournament-match', './tools/tournament-match.ts', 'make the match of a tournament again from its seed'),
  tool('api-release', '../test/http/release-api.ts', 'what breaks clients of the last release of the REST API'),
  tool('spinner-verify', './tools/spinner-verify.ts', 'verify past draws from the published history'),
  tool('client-pack', './clients/pack.ts', 'make the package of the client for TypeScript, ready to publish'),
  tool('quickstart', './clients/quickstart.ts', "follow the quickstart of a server's API page word for word"),
  tool('client-generate', './clients/generate.ts', 'write the parts of clients made from the API description'),
  // The page
  tool('page-speed', './page/speed.ts', 'what a first visit asks for, and its time on a slow network'),
  tool('page-shots', './page/shots.ts', 'pictures of every view: three widths, light and dark'),
  tool('page-walk', './page/walk.ts', 'what a screen reader is told on the way to a closed position'),
  // Match data
  tool('provider-mock', './tools/provider-mock/main.ts', 'serve recordings as the live provider would'),
  tool('replay-make', './replays/make.ts', 'make the bundled recordings from their seeds'),
  // Strategies
  tool('backtest', './backtest/main.ts', 'play recordings with traders that follow a strategy'),
  tool('trade', './backtest/trade.ts', 'let a strategy trade on a server, with a personal key'),
  // Rehearsals
  tool('conformance', './rehearse/conformance/main.ts', 'check a deployment against the specification, from outside'),
  tool('chaos', './rehearse/chaos/main.ts', 'break a cluster of three processes at random and check every promise'),
  tool('chaos-mutants', '../test/chaos/mutants.ts', 'remove each protection of the cluster; a check must fail'),
  tool('market-mutants', '../test/market/mutants.ts', 'break each rule of the market; the small season must fail'),
  tool('feed-troubles', '../test/feed/run.ts', 'tell matches twice, once by a feed that errs; nothing may differ'),
  tool('feed-mutants', '../test/feed/mutants.ts', 'remove each rule about a feed that errs; feed-troubles must fail'),
  tool('sim-mutants', '../test/sim/mutants.ts', 'break each rule of the game; the simulator must fail'),
  tool('sim', '../test/sim/run.ts', 'simulate the game with faults, seed by seed'),
  tool('sim-cluster', '../test/sim/cluster/run.ts', 'simulate a cluster of 40 processes on a virtual clock'),
  tool('sim-cluster-mutants', '../test/sim/cluster/mutants.ts', 'break the cluster; its simulator must fail'),
  tool('rolling', './rehearse/rolling/main.ts', 'restart each process of a cluster behind nginx, under load'),
  tool('upgrade', './rehearse/upgrade/main.ts', 'release two migrations under load, one of them breaking'),
  tool('failover', './rehearse/failover/main.ts', 'kill the primary of PostgreSQL behind HAProxy, under load'),
  tool('restore', './rehearse/restore/main.ts', 'restore an encrypted backup to a moment, and check every trade'),
  tool('quarantine', './rehearse/quarantine/main.ts', 'break each stored document of matches, and end them all'),
  tool('drill', './rehearse/drill/main.ts', 'make an incident, and walk the control room and the runbook to its end'),
  tool('soak', './rehearse/soak/main.ts', 'run under load for long; memory, handles and sockets must stay flat'),
  tool('load', './rehearse/load/main.ts', 'simulated users: latencies, deliveries, errors, gaps, books'),
  tool('load-hostile', './rehearse/load/hostile.ts', 'attack a server in 25 ways beside ordinary users'),
  tool('fuzz', './rehearse/fuzz/main.ts', 'send every kind of wrong request the API description allows'),
  // Benchmarks; those with a colon and the simulator are scripts of their own as well
  tool('bench:trade', './bench/trade.ts', 'the trade path against a transaction a trade, and pgbench'),
  tool('bench:http', './bench/http.ts', 'opens over HTTP against orders that are refused'),
  tool('bench:fanout', './bench/fanout.ts', 'the fan-out of prices against the least that Node can do'),
  tool('bench-one-match', './bench/one-match.ts', 'one match with orders over the bus and a million followers'),
  tool('bench-fulltime', './bench/fulltime.ts', 'full time of a match with up to 100,000 holders'),
  tool('bench-start', './bench/start.ts', 'how long a start takes, and the memory of the process'),
  tool('bench-growth', './bench/growth.ts', 'how costs grow with what is stored and with live matches'),
  tool('bench-parts', './bench/parts.ts', 'what a trade costs, by part: Node and PostgreSQL'),
  tool('bench-reads', './bench/reads.ts', 'what each read of the API costs, by route'),
  tool('bench-compare', './bench/compare.ts', 'what has become slower by a tenth since a stored commit'),
  tool('bench-week', './bench/week.ts', 'a goal with 100,000 followers, and a table of as many'),
  tool('bench-hot', './bench/hot.ts', 'what a hot match and a crowd signing in cost the others'),
  tool('bench-storm', './bench/storm.ts', 'thousands who come back at once'),
  tool('bench-takeover', './bench/takeover.ts', 'how long a match stands still when its owner is killed'),
]
