import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureDemoKeys } from './access/demo.ts'
import { writeServerAddress } from './access/demo-files.ts'
import { buildApp } from './app.ts'
import { startupBanner } from './banner.ts'
import { grantInitialCredits } from './campaigns/credits.ts'
import { loadDefaultPrices } from './campaigns/spending/prices.ts'
import { loadRules } from './channels/rules.ts'
import { type Config, localUrl } from './config.ts'
import { maxConnectionsOf, readConnectionLimit } from './connection-budget.ts'
import type { Context } from './context.ts'
import { type ListenTarget, portInUseError } from './free-port.ts'
import { type ContextOptions, openContext } from './open-context.ts'
import { createOperatorLink } from './operator-link.ts'
import { startHeartbeat } from './platform/database/process-heartbeat.ts'
import { prepareGracefulClose } from './platform/http/graceful-close.ts'
import { startMetricsServer } from './platform/http/metrics-access.ts'
import { collectGarbageWhenIdle } from './platform/idle-gc.ts'
import { printProgress } from './progress.ts'
import type { StartedDatabase } from './start-database.ts'
import { buildPages } from './web-assets/build.ts'
import { jobs, registerWork } from './worker.ts'

/** Time given to requests and jobs in flight when the process stops, after the time in which load balancers notice. */
const STOP_TIMEOUT_MS = 20_000

/** Signals that follow the first one within this time are duplicates: a supervisor may signal the launcher, which forwards it, and the server. */
const DUPLICATE_SIGNAL_MS = 1000

/** Runs the server until the process receives SIGTERM or SIGINT. */
export async function serve(config: Config, startedDatabase: StartedDatabase | undefined): Promise<void> {
  const options: ContextOptions = { jobs, defersWork: true, progress: printProgress, startedDatabase }
  if (config.roles.includes('worker')) options.work = registerWork
  const pagesBuilt = buildPages()
  pagesBuilt.catch(() => {}) // reported below, where the build is awaited
  const { context, close: closeContext } = await openContext(config, options)
  await pagesBuilt.catch(async (error) => {
    await closeContext()
    throw error
  })
  let isDraining = false
  const app = buildApp(context, () => isDraining)
  const gracefulClose = prepareGracefulClose(app.server)
  const stopHeartbeat = await startHeartbeat({
    ...context,
    roles: config.roles,
    // Without Redis, counters are shared only if there is one server, as with the embedded database.
    sharedLimits: config.redisUrl !== undefined || config.databaseUrl === undefined,
    connections: { max: maxConnectionsOf(config), limit: await readConnectionLimit(context.db.queries) },
  })
  const demo = await ensureDemoKeys(context)
  if (demo) await context.db.transaction((tx) => grantInitialCredits(tx, demo.keys.org_id, context.clock))
  // A process with the worker role listens too, for its health and metrics.
  await app.listen({ host: config.host, port: config.port }).catch(async (error) => {
    await closeContext()
    throw listenError(error, { ...config, variable: 'PORT' })
  })
  const { port } = app.server.address() as AddressInfo
  const address = localUrl(config.host, port)
  const hasPublicUrl = config.publicUrl !== undefined
  context.config.publicUrl ??= address
  const metricsServer =
    config.metrics.port === undefined
      ? undefined
      : await startMetricsServer(context.metrics.registry, config.host, config.metrics.port).catch(async (error) => {
          await app.close()
          await closeContext()
          throw listenError(error, { host: config.host, port: config.metrics.port!, variable: 'METRICS_PORT' })
        })
  // Signals are handled before the banner is printed: a supervisor may stop the server as soon as it has read the address.
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>()
  /** Ends the time in which the process still accepts connections. */
  const drainController = new AbortController()
  let firstSignalAt: number | undefined
  let exitTimer: NodeJS.Timeout | undefined
  const beginStop = (reason: string) => {
    // From the first signal on, so that a database that does not respond while the work starts cannot delay the exit.
    exitTimer ??= setTimeout(exitWithRunningWork, config.drainSeconds * 1000 + STOP_TIMEOUT_MS)
    stop(reason)
  }
  const handleSignal = (signal: NodeJS.Signals) => {
    firstSignalAt ??= performance.now()
    if (performance.now() - firstSignalAt >= DUPLICATE_SIGNAL_MS) drainController.abort()
    beginStop(signal)
  }
  const handleDisconnect = () => {
    drainController.abort()
    beginStop('disconnect')
  }
  process.on('SIGTERM', handleSignal)
  process.on('SIGINT', handleSignal)
  // The channel closes when the launcher that started this process is killed.
  if (process.channel) process.on('disconnect', handleDisconnect)
  if (demo) await writeServerAddress(config.dataDir, address)
  await startWork(context).catch(async (error) => {
    // Listeners of the process would keep it alive after the error.
    process.off('SIGTERM', handleSignal)
    process.off('SIGINT', handleSignal)
    process.off('disconnect', handleDisconnect)
    clearTimeout(exitTimer)
    context.events.release()
    await app.close()
    metricsServer?.close()
    await stopHeartbeat()
    await closeContext()
    throw error
  })
  const isTerminal = process.stdout.isTTY === true
  const operatorLink = config.roles.includes('api') ? await createOperatorLink(context, isTerminal) : undefined
  process.stdout.write(startupBanner(context, demo, { isTerminal, hasPublicUrl, operatorLink }))

  collectGarbageWhenIdle()

  const signal = await stopped
  isDraining = true
  gracefulClose.startDraining()
  const { drainSeconds } = config
  context.log.info(
    { signal },
    drainSeconds > 0
      ? `stopping; not ready from now on, and still accepting connections for ${drainSeconds} s (DRAIN_SECONDS)`
      : 'stopping',
  )
  await sleep(drainSeconds * 1000, undefined, { signal: drainController.signal }).catch(() => {})
  context.events.release() // long polls must not delay the shutdown
  await gracefulClose.close()
  await app.close()
  metricsServer?.close()
  metricsServer?.closeAllConnections()
  await stopHeartbeat()
  await closeContext()
  process.exit(0)

  function exitWithRunningWork() {
    context.log.error(`requests or jobs in flight did not finish within ${STOP_TIMEOUT_MS / 1000} s, exiting`)
    process.exit(1)
  }
}

/** Starts the work in the background, which requests do not need. Before it, reads the data files that messages need, so that an invalid one stops the server. */
async function startWork({ queue }: Context): Promise<void> {
  loadRules()
  loadDefaultPrices()
  await queue.startWork()
}

function listenError(error: NodeJS.ErrnoException, { host, port, variable }: ListenTarget): Error {
  if (error.code === 'EADDRINUSE') return portInUseError({ host, port, variable })
  if (error.code === 'EACCES')
    return new Error(`${variable}=${port}: not permitted to listen on this port; set a ${variable} of 1024 or higher`)
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new Error(`HOST=${host}: this machine has no such address; set HOST to one of its addresses`)
  return error
}
