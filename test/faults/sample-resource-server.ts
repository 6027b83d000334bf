import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { buildApp } from '../../server/app.ts'
import { readConfig } from '../../server/config.ts'
import { openContext } from '../../server/open-context.ts'
import { createLog } from '../../server/platform/log.ts'
import { jobs } from '../../server/worker.ts'
import { addSampleResource } from '../support/sample-resource.ts'

// A server whose writes pause inside their transaction, for a test that kills it during the pause.
const { context } = await openContext(readConfig(process.env), { jobs, log: createLog('silent') })
const app = buildApp(context)
addSampleResource(app, context, { pause: () => pause(Math.random() * 20) })
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`)
