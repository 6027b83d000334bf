import { type Database, ping } from '../database/database.ts'
import { pendingMigrations, readMigrations } from '../database/migrate.ts'
import { withDeadline } from '../deadline.ts'
import type { Metrics } from '../metrics.ts'
import type { App } from './server.ts'

export interface Health {
  db: Database
  metrics: Metrics
  draining: () => boolean
}

/** Probes for machines: is the process up, can it serve, what are its figures. */
export function healthRoutes(app: App, { db, metrics, draining }: Health): void {
  app.get('/healthz', async () => ({ status: 'ok' }))

  app.get('/readyz', async (_request, reply) => {
    const wrong = draining() ? ['the server is shutting down'] : await whatIsWrong()
    return wrong.length === 0 ? { status: 'ready' } : reply.status(503).send({ status: 'not ready', wrong })
  })

  app.get('/metrics', async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })

  async function whatIsWrong(): Promise<string[]> {
    try {
      await withDeadline(ping(db), 3000)
      const pending = await withDeadline(pendingMigrations(db.pool, await readMigrations()), 3000)
      return pending.map((name) => `migration ${name} is not applied`)
    } catch {
      return ['the database does not answer']
    }
  }
}
