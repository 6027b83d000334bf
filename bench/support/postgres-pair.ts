import { type ChildProcess, execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findBinaries } from '../../server/platform/postgres/binaries.ts'
import {
  clusterPaths,
  createCluster,
  prepareStart,
  readPassword,
  superuser,
} from '../../server/platform/postgres/cluster.ts'
import { chooseLauncher } from '../../server/platform/postgres/launch.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { until } from '../../test/support/until.ts'

const run = promisify(execFile)
const ROLE = 'operator'
const PROMOTION_TIMEOUT_S = 30

interface PostgresNode {
  port: number
  folder: string
  process: ChildProcess
}

/**
 * Two PostgreSQL servers with synchronous replication: the primary confirms a commit when the standby has stored it too. There is no
 * monitor: `failOver` kills the primary and promotes the standby, and `addStandby` replaces the killed server by a new standby.
 */
export class PostgresPair {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'attestry-pair-')))
  readonly #launcher = chooseLauncher({})
  readonly #binaries = findBinaries(this.#launcher, {
    privateFolder: this.#root,
    sharedFolders: ['/var/tmp', tmpdir()],
  })
  readonly #password = randomBytes(12).toString('hex')
  #superuserPassword = ''
  #nodeCount = 0
  #primary!: PostgresNode
  #standby: PostgresNode | undefined
  /** Free port of the next standby. */
  #standbyPort = 0

  static async start(): Promise<PostgresPair> {
    const pair = new PostgresPair()
    const paths = clusterPaths(pair.#root)
    await createCluster(paths, pair.#binaries, pair.#launcher)
    prepareStart(paths, pair.#launcher)
    pair.#superuserPassword = readPassword(paths)
    const port = await findFreePort()
    pair.#primary = pair.#startNode(paths.data, port)
    await pair.#waitUntilUp(port)
    await pair.#onPrimary(
      `create role ${ROLE} login password '${pair.#password}'`,
      `create database ${ROLE} owner ${ROLE}`,
    )
    pair.#standbyPort = await findFreePort()
    await pair.addStandby()
    return pair
  }

  /** URL with both servers, as an operator sets it in DATABASE_URL. */
  get url(): string {
    const ports = [this.#primary.port, this.#standby?.port ?? this.#standbyPort].sort()
    return `postgres://${ROLE}:${this.#password}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${ROLE}`
  }

  /** URL of the primary, as the role that owns the database or as another one. */
  primaryUrl(role = ROLE): string {
    return this.#urlOf(this.#primary.port, role)
  }

  /** URL of the standby, or of the one that `addStandby` starts next. */
  standbyUrl(role = ROLE): string {
    return this.#urlOf(this.#standby?.port ?? this.#standbyPort, role)
  }

  #urlOf(port: number, role: string): string {
    return `postgres://${role}:${this.#password}@127.0.0.1:${port}/${ROLE}`
  }

  /** Creates a role that may only use what it is granted. */
  async createRole(role: string): Promise<void> {
    await this.#onPrimary(`create role ${role} login password '${this.#password}'`)
  }

  /** Lets the standby receive changes without applying them, or apply them again. */
  async setReplayPaused(isPaused: boolean): Promise<void> {
    const client = await this.#connect(this.#standby!.port)
    try {
      await client.query(isPaused ? 'select pg_wal_replay_pause()' : 'select pg_wal_replay_resume()')
    } finally {
      await client.end()
    }
  }

  /** Kills all processes of the standby with SIGKILL. The primary then confirms commits alone. */
  async killStandby(): Promise<void> {
    const killed = this.#standby!
    this.#standby = undefined
    this.#standbyPort = killed.port
    await killNode(killed)
    rmSync(killed.folder, { recursive: true, force: true })
    await this.#onPrimary(`alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()')
  }

  /** Kills all processes of the primary with SIGKILL, and promotes the standby. */
  async failOver(): Promise<void> {
    const [killed, promoted] = [this.#primary, this.#standby!]
    await killNode(killed)
    this.#primary = promoted
    this.#standby = undefined
    this.#standbyPort = killed.port
    await this.#onPrimary(
      `select pg_promote(true, ${PROMOTION_TIMEOUT_S})`,
      // The new primary would wait for a standby that does not exist.
      `alter system set synchronous_standby_names = ''`,
      'select pg_reload_conf()',
    )
    rmSync(killed.folder, { recursive: true, force: true })
  }

  /** Copies the primary while it runs, starts the copy as a standby, and makes the primary wait for it from then on. */
  async addStandby(): Promise<void> {
    const folder = join(this.#root, `node-${++this.#nodeCount}`)
    const backup = await this.#connect(this.#primary.port)
    try {
      await backup.query(`select pg_backup_start('standby', true)`)
      // Files that are deleted in the meantime are restored, or deleted again, from the write-ahead log.
      await run('cp', ['-a', this.#primary.folder, folder]).catch(({ stderr }: { stderr: string }) => {
        if (!stderr.split('\n').every((line) => line === '' || line.includes('No such file'))) throw new Error(stderr)
      })
      const { rows } = await backup.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
      writeFileSync(join(folder, 'backup_label'), rows[0]!.labelfile)
    } finally {
      await backup.end()
    }
    for (const name of ['postmaster.pid', 'postmaster.opts', 'pg_wal'])
      rmSync(join(folder, name), { recursive: true, force: true })
    mkdirSync(join(folder, 'pg_wal', 'archive_status'), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, 'standby.signal'), '')
    writeFileSync(
      join(folder, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${this.#primary.port} user=${superuser} password=${this.#superuserPassword}'\n`,
    )
    if (this.#launcher.owner)
      spawnSync('chown', ['-R', `${this.#launcher.owner.uid}:${this.#launcher.owner.gid}`, folder])
    this.#standby = this.#startNode(folder, this.#standbyPort)
    await this.#onPrimary(`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()')
    await until(async () => {
      const [row] = await this.#onPrimary(`select from pg_stat_replication where sync_state = 'sync'`)
      return row !== undefined
    }, 60_000)
  }

  async stop(): Promise<void> {
    for (const node of [this.#primary, this.#standby]) if (node) await killNode(node)
    rmSync(this.#root, { recursive: true, force: true })
  }

  #startNode(folder: string, port: number): PostgresNode {
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      'max_connections=200',
      'wal_level=replica',
      'max_wal_senders=5',
      'wal_keep_size=512MB',
      'hot_standby=on',
      // The operating system keeps the data that a killed process has written.
      'fsync=off',
    ]
    const process = this.#launcher.start(
      this.#binaries.postgres,
      ['-D', this.#launcher.programPath(folder), ...settings.flatMap((setting) => ['-c', setting])],
      { cwd: folder, stdio: 'ignore', endWithParent: true },
    )
    return { port, folder, process }
  }

  async #waitUntilUp(port: number): Promise<void> {
    await until(async () => {
      try {
        await (await this.#connect(port)).end()
        return true
      } catch {
        return false
      }
    }, 60_000)
  }

  async #onPrimary(...statements: string[]): Promise<object[]> {
    const client = await this.#connect(this.#primary.port)
    try {
      let rows: object[] = []
      for (const statement of statements) ({ rows } = await client.query(statement))
      return rows
    } finally {
      await client.end()
    }
  }

  async #connect(port: number): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: `postgres://${superuser}:${this.#superuserPassword}@127.0.0.1:${port}/postgres`,
    })
    client.on('error', () => {})
    await client.connect()
    return client
  }
}

/** Kills the postmaster first, so that it does not stop its processes in an orderly way. Without it, the others end too. */
async function killNode({ process: postmaster }: PostgresNode): Promise<void> {
  const exited = postmaster.exitCode === null && postmaster.signalCode === null ? once(postmaster, 'exit') : undefined
  const children = readChildren(postmaster.pid!)
  postmaster.kill('SIGKILL')
  for (const child of children)
    try {
      process.kill(child, 'SIGKILL')
    } catch {} // ended with the postmaster
  await exited
}

function readChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return [] // not Linux
  }
}
