import { readConfig } from '../../server/config.ts'
import { openContext } from '../../server/open-context.ts'
import { createLog } from '../../server/platform/log.ts'
import { jobs, registerWork } from '../../server/worker.ts'

// A worker that contacts candidates, for a test that kills it. Its clock shows noon in India at the start of the test and runs ten times
// as fast as real time, so that leases of killed workers expire quickly.
const SPEED_FACTOR = 10
const startedAt = Number(process.env.CLOCK_STARTED)
const noon = Number(process.env.CLOCK_NOON)
const clock = { now: () => noon + (Date.now() - startedAt) * SPEED_FACTOR }
await openContext(readConfig(process.env), { jobs, work: registerWork, clock, log: createLog('silent') })
process.stdout.write('ready\n')
