import type { Log } from './platform/log.ts'
import type { ProcessRole } from './platform/postgres/cluster-lock.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './platform/postgres/embedded.ts'

export interface StartedDatabase {
  postgres: Promise<EmbeddedPostgres>
  /** Resolves when PostgreSQL is starting or has started, so that this process can do other work until `postgres` resolves. */
  waiting: Promise<void>
  /** Sets the log. Lines that are logged earlier are kept until then. */
  setLog(log: Log): void
}

/** Starts the embedded database in the data folder. */
export function startDatabase(
  dataDir: string,
  role: ProcessRole,
  progress: ((text: string) => void) | undefined,
): StartedDatabase {
  const { promise: log, resolve: setLog } = Promise.withResolvers<Log>()
  const { promise: waiting, resolve: onWaiting } = Promise.withResolvers<void>()
  const postgres = startEmbeddedPostgres({
    dataDir,
    role,
    log: ({ level, message, ...rest }) => void log.then((opened) => opened[level](rest, message)),
    onTakenOver(error) {
      log.then((opened) => {
        opened.fatal(error.message)
        process.exit(1)
      })
    },
    onWaiting,
    ...(progress ? { progress } : {}),
  })
  postgres.then(
    () => onWaiting(),
    () => onWaiting(),
  ) // a failure is reported where `postgres` is awaited
  return { postgres, waiting, setLog }
}
