import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { defineJob, type Job, openQueue } from '../../server/platform/jobs/queue.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'

// A worker for a test that kills it: takes a job, prints a line, and never completes the job.
const connectionString = process.argv[2]!
const note = defineJob<{ text: string }>('note', { retryDelaySeconds: 1, retries: 3 })
await openQueue({
  connection: { connectionString },
  db: openDatabase({ connection: { connectionString }, name: 'hanging', onError: () => {} }),
  clock: systemClock,
  log: createLog('silent'),
  metrics: createMetrics(),
  jobs: [note] as Job<object>[],
  work: (worker) =>
    worker.handle(note, async () => {
      process.stdout.write('taken\n')
      await new Promise(() => {})
    }),
})
