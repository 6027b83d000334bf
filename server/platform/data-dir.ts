import { mkdir } from 'node:fs/promises'

const reasons: Record<string, string> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

/** Creates DATA_DIR, readable only by its owner, if it does not exist. */
export async function createDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new Error(
      `DATA_DIR=${dataDir} cannot be used: ${reasons[code ?? ''] ?? message}; set DATA_DIR to a folder that this user can create or write`,
    )
  })
}
