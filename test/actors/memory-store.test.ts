import { describe } from 'vitest'
import { userId } from '../../actors/kernel/ids.ts'
import { matchStoreContract } from '../contract/match-store.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

describe('the match store in memory', () => {
  const store = new MemoryMatchStore()
  const world = new TestWorld()
  matchStoreContract(async () => ({
    store,
    leases: store,
    newId: () => world.newId(),
    newUser: async (balance) => {
      const user = userId(world.newId())
      store.grant(user, balance)
      return user
    },
    audit: async () => {
      const { imbalance, mismatched } = store.audit()
      return { imbalance, mismatched: mismatched.length }
    },
  }))
})
