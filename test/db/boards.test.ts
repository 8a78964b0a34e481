import { describe } from 'vitest'
import { BoardsMemory } from '../../db/boards-memory.ts'
import { boardsContract } from '../contract/boards.ts'

describe('the leaderboards in memory', () => boardsContract(async () => new BoardsMemory()))
