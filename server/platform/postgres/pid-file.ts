// postmaster.pid and its like: written by PostgreSQL, left behind when it is killed.
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './failure.ts'
import { answersSignals, isPostgresOf, type Mark, markOf } from './processes.ts'
import { socketName } from './socket.ts'

const lockFiles = ['postmaster.pid', `${socketName}.lock`]

/** The living postmaster of this data folder, be it ready or not. */
export function runningPostmaster(dataFolder: string): Mark | undefined {
  const pid = pidIn(readOrEmpty(join(dataFolder, 'postmaster.pid')))
  return pid !== undefined && isPostgresOf(pid, dataFolder) ? markOf(pid) : undefined
}

/**
 * Removes lock files whose pid now belongs to a stranger or a zombie, which PostgreSQL would take for a postmaster. Those of a
 * pid that nobody has are left to PostgreSQL. Only for who has made sure that no process works in the folder.
 */
export function removeStaleLocks(dataFolder: string): string[] {
  return lockFiles.filter((name) => {
    const path = join(dataFolder, name)
    const content = readOrEmpty(path)
    const pid = pidIn(content)
    if (pid === undefined || !answersSignals(pid) || isPostgresOf(pid, dataFolder)) return false
    return removeIfStill(path, content)
  })
}

// Another starter may have put a good file there since it was read: that one goes back.
function removeIfStill(path: string, content: string): boolean {
  const aside = `${path}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  const same = readOrEmpty(aside) === content
  try {
    if (!same) linkSync(aside, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  unlinkSync(aside)
  return same
}

function pidIn(content: string): number | undefined {
  // Negative when PostgreSQL runs for a single user.
  const pid = Math.abs(Number.parseInt(content, 10))
  return pid > 0 ? pid : undefined
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}
