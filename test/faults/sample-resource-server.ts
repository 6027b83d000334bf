import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { buildApp } from '../../server/app.ts'
import { readConfig } from '../../server/config.ts'
import { openContext } from '../../server/context.ts'
import { createLog } from '../../server/platform/log.ts'
import { addThings } from '../support/sample-resource.ts'

// A server with a write that takes a moment inside its transaction, for a test that kills this process there.
const { context } = await openContext(readConfig(process.env), { log: createLog('silent') })
const app = buildApp(context)
addThings(app, context, { pause: () => pause(Math.random() * 20) })
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`)
