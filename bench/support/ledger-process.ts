import { once } from 'node:events'
import { openLedger } from '../../server/events/ledger.ts'
import { EVENTS_RECORDED } from '../../server/events/record.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { openListener } from '../../server/platform/database/listener.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'
import { fanOut } from '../../server/webhooks/deliveries.ts'

// A process that only sequences events. It starts when its parent process sends a message, and ends with its parent.
process.on('disconnect', () => process.exit())
const connection = { connectionString: process.env.DATABASE_URL! }
const [clock, log, metrics] = [systemClock, createLog('error'), createMetrics()]
const db = openDatabase({ connection, name: 'ledger', onError: () => {} })
const listener = await openListener(connection, log)
await db.pool.query('select 1')
process.send!('ready')
await once(process, 'message')
await openLedger({ db, clock, log, metrics, listener, onSequenced: (tx, events) => fanOut(tx, events, clock) })
db.publish(EVENTS_RECORDED)
