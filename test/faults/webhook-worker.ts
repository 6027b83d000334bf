import { openKeyring } from '../../server/access/keyring.ts'
import { readConfig } from '../../server/config.ts'
import { registerHandlers } from '../../server/handlers.ts'
import { openMailboxHasher } from '../../server/mail/mailbox-hash.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { setVault } from '../../server/platform/database/database-vault.ts'
import { openListener } from '../../server/platform/database/listener.ts'
import { openQueue } from '../../server/platform/jobs/queue.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'
import { openVault } from '../../server/platform/vault.ts'
import { startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { jobs } from '../../server/worker.ts'
import { createFastClock } from './fast-clock.ts'

// A worker that only delivers webhooks, for a test that kills it during deliveries.
const config = readConfig(process.env)
const clock = createFastClock(Number(process.env.CLOCK_STARTED))
const log = createLog('silent')
const connection = { connectionString: config.databaseUrl! }
const db = openDatabase({ connection, name: 'worker under test', maxConnections: 4, onError: () => {} })
const vault = await openVault(db, async () => config.masterKey!, clock)
setVault(db, vault)
const mailboxes = await openMailboxHasher(db, vault, clock)
const listener = await openListener(connection, log)
const metrics = createMetrics()
const queue = await openQueue({ connection, db, clock, log, metrics, jobs })
const keyring = await openKeyring({ db, vault, listener, log })
registerHandlers()
startDelivery({
  config,
  clock,
  log,
  connection,
  db,
  vault,
  mailboxes,
  listener,
  metrics,
  queue,
  keyring,
  timeoutMs: 300,
})
process.stdout.write('ready\n')
