/** The alerts as the control room says them: the sentence, the section of the runbook and the button of each. */

/** An alert as the control room says it. */
interface Said {
  readonly level: 'page' | 'ticket'
  /** `{n}` is how much, `{name}` what it is about. */
  readonly says: string
  readonly runbook: string
  /** The label of its button. */
  readonly button: string
}

const BOOKS = { level: 'page', runbook: 'the-books-do-not-balance', button: 'See the ledger' } as const
const FEED = { level: 'page', runbook: 'the-feed-is-frozen', button: 'See the feeds' } as const
const SLOW = { level: 'page', runbook: 'overload', button: 'See the gauges' } as const
const ATTACK = { level: 'ticket', runbook: 'attack', button: 'See the audit log' } as const
const ADOPTED = { level: 'page', runbook: 'a-balance-was-changed-from-outside', button: 'See the audit log' } as const

/** By alert. Those that are missing only Prometheus can see: they compare processes, or count over minutes. */
export const SAID = {
  PartUnavailable: {
    level: 'page',
    says: 'There is no answer from the {name}',
    runbook: 'a-part-is-unavailable',
    button: 'See the services',
  },
  LedgerImbalance: { ...BOOKS, says: 'Money has appeared or vanished' },
  WalletMismatch: { ...BOOKS, says: 'A wallet is not the sum of its ledger entries' },
  MatchQuarantined: {
    level: 'page',
    says: '{name} cannot be read: {n} wait',
    runbook: 'a-match-cannot-be-read',
    button: 'Settle',
  },
  FeedLate: { ...FEED, says: 'A match in play has had no new data for {n}' },
  ProviderSilent: { ...FEED, says: 'The provider has not answered for {n}' },
  ProviderFails: { ...FEED, says: 'The provider answers with errors: {name}' },
  ProviderQuotaSpent: { ...FEED, says: 'The quota of the provider is spent' },
  MailboxFilling: { ...SLOW, says: 'A match has {n} orders waiting, and refuses at 1,024' },
  QueriesWait: { ...SLOW, says: '{n} queries wait for a connection to the database' },
  LoopLate: { ...SLOW, says: 'This process is overloaded: its timers are late by {n}' },
  SocketsFull: { ...SLOW, says: 'This process has {n} of its 20,000 sockets' },
  BusUnheard: {
    level: 'page',
    says: 'This process has not heard the others for {n}',
    runbook: 'processes-cannot-reach-each-other',
    button: 'See the services',
  },
  TokensReused: {
    level: 'page',
    says: 'Copied sessions were used: {n} within an hour',
    runbook: 'a-key-has-leaked',
    button: 'See the audit log',
  },
  LargeBalanceAdopted: {
    ...ADOPTED,
    says: 'Balances changed from outside have added more than trading.adoption_alert',
  },
  AdoptingUserFrozen: { ...ADOPTED, says: 'A user is frozen whose balance was changed from outside' },
  AdoptionRefused: { ...ADOPTED, says: 'A balance was raised from outside by more than is allowed' },
  BalanceAdopted: { ...ADOPTED, level: 'ticket', says: 'A balance was changed from outside' },
  MatchesOverdue: { ...FEED, level: 'ticket', says: '{n} kicked off more than four hours ago and are not settled' },
  FixturesSkipped: { ...FEED, level: 'ticket', says: 'Data was skipped: {name}' },
  ReplicaUnused: {
    level: 'ticket',
    says: 'Nothing is read from the standby',
    runbook: 'the-standby-is-not-read',
    button: 'See the gauges',
  },
  ReactionsLate: {
    level: 'ticket',
    says: 'Boards and notifications are {n} behind',
    runbook: 'reactions-are-late',
    button: 'See the gauges',
  },
  ReactionsSetAside: {
    level: 'ticket',
    says: '{n} failed, the last {name}',
    runbook: 'reactions-are-late',
    button: 'Retry',
  },
  ClosesUnpaid: {
    level: 'ticket',
    says: '{n} could not be paid, because a wallet is full or missing',
    runbook: 'a-wallet-is-full-or-was-missing',
    button: 'See the ledger',
  },
  LedgerMonthsMissing: {
    level: 'ticket',
    says: 'The ledger has no place for {n} of the next twelve months',
    runbook: 'a-month-of-the-ledger-is-missing',
    button: 'See the ledger',
  },
  ArchiveFails: {
    level: 'page',
    says: 'PostgreSQL has not archived its log for {n}',
    runbook: 'the-log-is-not-archived',
    button: 'See the gauges',
  },
  WebhookFailing: {
    level: 'ticket',
    says: 'The webhook to {name} fails',
    runbook: 'a-webhook-fails',
    button: 'See the webhooks',
  },
  CheatSuspected: {
    level: 'ticket',
    says: '{n} of cheats within an hour',
    runbook: 'cheating',
    button: 'See the risk',
  },
  RefusalBurst: { ...ATTACK, says: 'A network was refused 300 times within a minute' },
  CrowdRegistered: { ...ATTACK, says: 'Fifty users have registered from one network' },
  AdminMade: { ...ATTACK, says: '{name} was made an admin' },
  MatchVoided: { ...ATTACK, says: '{name} was ended void' },
} as const satisfies Readonly<Record<string, Said>>

export type AlertName = keyof typeof SAID

/** Where the buttons lead that only show something. */
export const PLACES: Readonly<Record<string, string>> = {
  'See the services': 'health',
  'See the gauges': 'health',
  'See the ledger': 'health',
  'See the feeds': 'feeds',
  'See the webhooks': 'webhooks',
  'See the risk': 'risk',
  'See the audit log': 'audit',
}
