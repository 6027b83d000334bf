import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync, truncateSync } from 'node:fs'

const MAX_LOG_BYTES = 8 * 1024 * 1024

/** Rotates the log, keeping one older file. PostgreSQL appends to the log, so the log can be truncated while PostgreSQL runs. */
export function rotateLog(logFile: string, maxBytes = MAX_LOG_BYTES): void {
  if (logSize(logFile) <= maxBytes) return
  const olderLogFile = `${logFile}.1`
  // The older file is deleted first, because it may belong to another user.
  rmSync(olderLogFile, { force: true })
  copyFileSync(logFile, olderLogFile)
  truncateSync(logFile)
}

export function logSize(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
}

/** Reads the log from an offset, up to 16 KB: enough to find why a start failed. */
export function readLog(logFile: string, from: number): string {
  const buffer = Buffer.alloc(16 * 1024)
  const file = openSync(logFile, 'r')
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, from))
  } finally {
    closeSync(file)
  }
}
