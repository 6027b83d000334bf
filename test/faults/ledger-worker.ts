import { openLedger } from '../../server/events/ledger.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { openListener } from '../../server/platform/database/listener.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'
import { fanOut } from '../../server/webhooks/deliveries.ts'

// A process that only sequences events, for a test that kills it at any point.
const connection = { connectionString: process.argv[2]! }
const [clock, log, metrics] = [systemClock, createLog('silent'), createMetrics()]
const db = openDatabase({ connection, name: 'ledger under test', maxConnections: 6, onError: () => {} })
const listener = await openListener(connection, log)
await db.listen(listener)
const onSequenced = (...[tx, events]: Parameters<Parameters<typeof openLedger>[0]['onSequenced']>) =>
  fanOut(tx, events, clock)
await openLedger({ db, clock, log, metrics, listener, onSequenced })
process.stdout.write('ready\n')
