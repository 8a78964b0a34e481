/** Metrics of background tasks, which are read from their runners at each scrape. */
import { Counter, Gauge, type Metric } from 'prom-client'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { readAtScrape } from './scraped.ts'

export interface TaskState {
  readonly name: string
  /** Runs that have failed, and how many of them since the last that has not. */
  readonly failures: number
  readonly failuresInARow: number
  /** Age of the run under way; 0 if there is none. */
  readonly runningMs: number
}

export function taskMetrics(look: () => readonly TaskState[]): Metric[] {
  const of = (Kind: typeof Gauge | typeof Counter, name: string, help: string, value: (task: TaskState) => number) =>
    readAtScrape(Kind, { name, help, label: 'task' }, () => look().map((task) => [task.name, value(task)] as const))
  return [
    of(Counter, 'touchline_task_failures_total', 'Failed runs of background tasks.', ({ failures }) => failures),
    of(
      Gauge,
      'touchline_task_failures_in_a_row',
      'Failed runs of background tasks since the last that did not fail.',
      ({ failuresInARow }) => failuresInARow,
    ),
    of(
      Gauge,
      'touchline_task_running_seconds',
      'Age of the run of a background task that is under way.',
      ({ runningMs }) => runningMs / SECOND_MS,
    ),
  ]
}
