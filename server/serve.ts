import type { AddressInfo } from 'node:net'
import { demoKeys, keepAddress } from './access/demo.ts'
import { buildApp } from './app.ts'
import { banner } from './banner.ts'
import { giveFirstCredits } from './campaigns/credits.ts'
import type { Config } from './config.ts'
import { linkTo, makeLink } from './console/auth/sign-in-links.ts'
import { type Context, type Overrides, openContext } from './context.ts'
import { announceProcess } from './platform/database/process-heartbeat.ts'
import { giveBackMemoryWhenQuiet } from './platform/idle-gc.ts'
import { buildPages } from './web-assets/build.ts'
import { registerWork } from './worker.ts'

/** Longest that requests and jobs in flight are waited for when the process is asked to stop. */
const DRAIN = 25_000

/** Runs the product until it is told to stop. */
export async function serve(config: Config): Promise<void> {
  const progress = (text: string) => {
    if (process.stderr.isTTY) process.stderr.write(`  ${text}\n`)
    else console.error(text)
  }
  const overrides: Overrides = { progress }
  if (config.roles.includes('worker')) overrides.work = registerWork
  const pages = buildPages()
  pages.catch(() => {}) // told below, where it is waited for
  const { context, close } = await openContext(config, overrides)
  await pages.catch(async (error) => {
    await close()
    throw error
  })
  let draining = false
  const app = buildApp(context, () => draining)
  const stopAnnouncing = await announceProcess({
    ...context,
    roles: config.roles,
    // The embedded database has one server at a time.
    sharedLimits: config.redisUrl !== undefined || config.databaseUrl === undefined,
  })
  const demo = await demoKeys(context)
  if (demo) await context.db.transaction((tx) => giveFirstCredits(tx, demo.keys.org_id, context.clock))
  // A worker listens too: its health and figures are asked for like the api's.
  await app.listen({ host: config.host, port: config.port }).catch(async (error) => {
    await close()
    throw listenError(error, config)
  })
  const { port } = app.server.address() as AddressInfo
  const localUrl = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  context.config.publicUrl ??= localUrl
  if (demo) await keepAddress(config.dataDir, localUrl)
  const terminal = process.stdout.isTTY === true
  process.stdout.write(banner(context, demo, terminal, await operatorLink(context, terminal || demo?.fresh === true)))

  giveBackMemoryWhenQuiet()

  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal))
  // The launcher that started this process went away without a word.
  if (process.channel) process.on('disconnect', () => stop('disconnect'))
  const signal = await stopped
  draining = true
  context.log.info({ signal }, 'stopping')
  const deadline = setTimeout(() => {
    context.log.error('requests or jobs in flight did not end in time')
    process.exit(1)
  }, DRAIN)
  // Connections that become idle only now would otherwise be waited for until their caller lets go.
  const closing = setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close()
  clearInterval(closing)
  await stopAnnouncing()
  await close()
  clearTimeout(deadline)
  process.exit(0)
}

/** For whoever started the server: at a terminal, and at the very first start. Logs that others read collect no way in. */
async function operatorLink({ db, clock, config }: Context, shown: boolean): Promise<string | undefined> {
  if (!config.roles.includes('api') || !shown) return undefined
  const token = await db.transaction((tx) => makeLink(tx, clock, null))
  return linkTo(config.publicUrl!, token)
}

function listenError(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`PORT=${port}: something else listens on ${host}:${port} already; set another PORT`)
  if (error.code === 'EACCES')
    return new Error(`PORT=${port}: listening there is not permitted; set a PORT of 1024 or more`)
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new Error(`HOST=${host}: this machine has no such address`)
  return error
}
