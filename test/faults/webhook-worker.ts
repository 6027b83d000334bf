import { readConfig } from '../../server/config.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { openListener } from '../../server/platform/database/listener.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'
import { openVault } from '../../server/platform/vault.ts'
import { startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { fastClock } from './fast-clock.ts'

// A worker that delivers and does nothing else, for a test that kills this process in the middle of it.
const config = readConfig(process.env)
const clock = fastClock(Number(process.env.CLOCK_STARTED))
const log = createLog('silent')
const connection = { connectionString: config.databaseUrl! }
const db = openDatabase({ connection, name: 'worker under test', max: 4, onError: () => {} })
const vault = await openVault(db, config.masterKey!, clock)
const listener = await openListener(connection, log)
startDelivery({ config, clock, log, connection, db, vault, listener, metrics: createMetrics(), timeout: 300 })
process.stdout.write('ready\n')
