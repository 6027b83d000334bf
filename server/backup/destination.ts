/** A folder or bucket that stores backups. */
export interface BackupDestination {
  /** Address for messages, without secrets. */
  readonly location: string
  /** Stores a backup completely or not at all, and returns its size in bytes. */
  write(name: string, content: AsyncIterable<Buffer>): Promise<number>
  read(name: string): AsyncIterable<Buffer>
  /** Lists the backups, or the files whose names match, by name. */
  list(matches?: (name: string) => boolean): Promise<StoredBackup[]>
  remove(name: string): Promise<void>
}

export interface StoredBackup {
  name: string
  bytes: number
}

/** Suffix of all backups. */
export const BACKUP_SUFFIX = '.attestry-backup'
const NAME_PATTERN = /^attestry-(\d{8}T\d{6}Z)-[0-9a-f]{6}\.attestry-backup$/

export function isBackupName(name: string): boolean {
  return NAME_PATTERN.test(name)
}

/** Returns the time of a backup, from its name. */
export function backupTime(name: string): Date | undefined {
  const text = NAME_PATTERN.exec(name)?.[1]
  return text === undefined
    ? undefined
    : new Date(text.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/, '$1-$2-$3T$4:$5:$6Z'))
}
