import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync, truncateSync } from 'node:fs'

const largest = 8 * 1024 * 1024

/** Keeps the log and one older part of it. PostgreSQL appends, so it goes on writing at the new end. */
export function boundLog(logFile: string, size = largest): void {
  if (logSize(logFile) <= size) return
  const older = `${logFile}.1`
  // Anew each time, as it may be another user's.
  rmSync(older, { force: true })
  copyFileSync(logFile, older)
  truncateSync(logFile)
}

export function logSize(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
}

/** What was logged since then, as far as it matters to someone who asks why it failed. */
export function readLog(logFile: string, from: number): string {
  const buffer = Buffer.alloc(16 * 1024)
  const file = openSync(logFile, 'r')
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, from))
  } finally {
    closeSync(file)
  }
}
