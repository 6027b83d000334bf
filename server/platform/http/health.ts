import { coalesce } from '../coalesce.ts'
import { type Database, pingDatabase } from '../database/database.ts'
import { type Migration, pendingMigrations, readMigrations, SchemaTooNewError } from '../database/migrate.ts'
import { ReadOnlyDatabaseError } from '../database/read-only.ts'
import { withDeadline } from '../deadline.ts'
import type { Metrics } from '../metrics.ts'
import { createMetricsRenderer, type MetricsAccess, requireMetricsAccess } from './metrics-access.ts'
import type { App } from './server.ts'

const DATABASE_TIMEOUT_MS = 3000

export interface HealthOptions {
  db: Database
  metrics: Metrics
  metricsAccess: MetricsAccess
  isDraining: () => boolean
}

/** Serves liveness, readiness and metrics. */
export function healthRoutes(app: App, { db, metrics, metricsAccess, isDraining }: HealthOptions): void {
  const renderMetrics = createMetricsRenderer(metrics.registry)
  // Anyone can call /readyz, and load shedding exempts it.
  const checkReadiness = coalesce(findReadinessProblems)
  /** Read once: the files belong to the version that runs, and reading all of them takes 10 ms. */
  let migrations: Migration[] | undefined

  app.get('/healthz', async () => ({ status: 'ok' }))

  app.get('/readyz', async (_request, reply) => {
    const problems = isDraining() ? ['the server is shutting down'] : await checkReadiness()
    return problems.length === 0
      ? { status: 'ready' }
      : reply.status(503).send({ status: 'not ready', wrong: problems })
  })

  app.get('/metrics', async (request, reply) => {
    requireMetricsAccess(metricsAccess, request)
    return reply.type(metrics.registry.contentType).send(await renderMetrics())
  })

  async function findReadinessProblems(): Promise<string[]> {
    try {
      await withDeadline(pingDatabase(db), DATABASE_TIMEOUT_MS)
      migrations ??= await readMigrations()
      const pending = await withDeadline(pendingMigrations(db.pool, migrations), DATABASE_TIMEOUT_MS)
      return pending.map((name) => `migration ${name} is not applied`)
    } catch (error) {
      const isKnown = error instanceof SchemaTooNewError || error instanceof ReadOnlyDatabaseError
      return [isKnown ? error.message : 'the database does not respond']
    }
  }
}
