// Lock files such as postmaster.pid: written by PostgreSQL, and left behind when it is killed.
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from './failure.ts'
import { canSignal, identifyProcess, isPostgresOf, type ProcessIdentity } from './processes.ts'
import { socketName } from './socket.ts'

const lockFileNames = ['postmaster.pid', `${socketName}.lock`]

/** Returns the running postmaster of this data folder, whether it is ready or not. */
export function runningPostmaster(dataFolder: string): ProcessIdentity | undefined {
  const pid = parsePid(readOrEmpty(join(dataFolder, 'postmaster.pid')))
  return pid !== undefined && isPostgresOf(pid, dataFolder) ? identifyProcess(pid) : undefined
}

/**
 * Removes lock files whose pid now belongs to an unrelated process or a zombie, which PostgreSQL would mistake for a postmaster,
 * and returns their names. PostgreSQL itself handles files with an unused pid. The caller must have made sure that no process of
 * the cluster is running.
 */
export function removeStaleLocks(dataFolder: string): string[] {
  return lockFileNames.filter((name) => {
    const path = join(dataFolder, name)
    const content = readOrEmpty(path)
    const pid = parsePid(content)
    if (pid === undefined || !canSignal(pid) || isPostgresOf(pid, dataFolder)) return false
    return removeIfUnchanged(path, content)
  })
}

// Another process may have written a valid file since it was read: that file is restored.
function removeIfUnchanged(path: string, content: string): boolean {
  const movedPath = `${path}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(path, movedPath)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false
    throw error
  }
  const isUnchanged = readOrEmpty(movedPath) === content
  try {
    if (!isUnchanged) linkSync(movedPath, path)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
  unlinkSync(movedPath)
  return isUnchanged
}

function parsePid(content: string): number | undefined {
  // The pid is negative in single-user mode.
  const pid = Math.abs(Number.parseInt(content, 10))
  return pid > 0 ? pid : undefined
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return ''
    throw error
  }
}
