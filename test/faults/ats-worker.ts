import { openKeyring } from '../../server/access/keyring.ts'
import { startReporter } from '../../server/ats/reports/reporter.ts'
import { readConfig } from '../../server/config.ts'
import { registerHandlers } from '../../server/handlers.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { setVault } from '../../server/platform/database/database-vault.ts'
import { openListener } from '../../server/platform/database/listener.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'
import { openVault } from '../../server/platform/vault.ts'
import { createFastClock } from './fast-clock.ts'

// A worker that only sends reports to applicant tracking systems, for a test that kills it.
const config = readConfig(process.env)
const clock = createFastClock(Number(process.env.CLOCK_STARTED))
const log = createLog('silent')
const connection = { connectionString: config.databaseUrl! }
const db = openDatabase({ connection, name: 'ATS worker under test', maxConnections: 8, onError: () => {} })
const vault = await openVault(db, async () => config.masterKey!, clock)
setVault(db, vault)
const listener = await openListener(connection, log)
await db.listen(listener)
const keyring = await openKeyring({ db, vault, listener, log })
registerHandlers()
startReporter({ config, clock, log, db, vault, metrics: createMetrics(), keyring })
process.stdout.write('ready\n')
